#pragma once

#include "call_book.h"
#include "shoal/runtime/fabric.h"
#include "simulated_job.h"

namespace shoal::detail {

/// One rank's end of a simulated world. Runs in that rank's fiber.
class SimulationFabric : public Fabric {
 public:
  SimulationFabric(SimulatedJob& job, int rank);

  int rank() const override { return rank_; }
  int size() const override { return job_.size(); }
  void begin(CallContext& context) override;
  void end(const CallContext& context) noexcept override;
  void transfer(const Transfer& transfer, CallContext& context) override;
  void mark_broken(CallContext& context, const Error& error) noexcept override;
  std::uint64_t open_communicator(int members) override { return job_.open_communicator(members); }
  void close_communicator(std::uint64_t communicator) noexcept override { job_.close_communicator(communicator); }
  void leave() override;
  bool phantom() const noexcept override { return job_.options().phantom; }
  Traffic traffic() const override;

 private:
  class Outgoing;
  class Incoming;

  // Where another rank may go on instead, and where this one may die.
  void scheduling_point();
  // Blocks until something that this rank waits for may have changed.
  void wait_for(int to, int from, CallContext& context);
  // Throws what makes waiting pointless.
  void check(int to, int from, CallContext& context);

  SimulatedJob& job_;
  int rank_;
  SimulatedJob::Rank& self_;
  CallBook book_;
};

}  // namespace shoal::detail

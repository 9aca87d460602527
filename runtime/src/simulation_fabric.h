#pragma once

#include "call_book.h"
#include "shoal/runtime/fabric.h"
#include "simulated_job.h"
#include "simulation_waiting.h"
#include "simulation_window.h"

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
  Window* window() noexcept override { return &window_; }
  std::uint64_t open_communicator(std::span<const int> members) override {
    return job_.open_communicator(static_cast<int>(members.size()));
  }
  void close_communicator(std::uint64_t communicator) noexcept override { job_.close_communicator(communicator); }
  void leave() override;
  bool phantom() const noexcept override { return job_.options().phantom; }
  Traffic traffic() const override;
  /// What simulated ranks choose does not depend on the machine at hand.
  const Calibration& calibration(CallContext&) override { return kReferenceCalibration; }

 private:
  class Outgoing;
  class Incoming;

  SimulatedJob& job_;
  int rank_;
  SimulatedJob::Rank& self_;
  bool heard_ = false;  // Of an error, in any call.
  CallBook book_;
  SimulationWaiting waiting_;
  SimulationWindow window_;
};

}  // namespace shoal::detail

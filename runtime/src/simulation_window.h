#pragma once

#include "call_book.h"
#include "simulation_waiting.h"

namespace shoal::detail {

/// Rounds of arrivals on flag lines that simulated ranks share. Each access to a line is a scheduling point of its own.
class SimulationWindow : public Window {
 public:
  SimulationWindow(SimulatedJob& job, int rank, SimulationWaiting& waiting, CallBook& book)
      : job_(job), rank_(rank), self_(job.rank(rank)), waiting_(waiting), book_(book) {}

  void arrive(std::span<const std::byte> payload, std::uint64_t read_by_others, CallContext& context) override;
  std::span<const std::byte> await(int peer, ArrivalPart part, CallContext& context) override;

 private:
  SimulatedJob& job_;
  int rank_;
  SimulatedJob::Rank& self_;
  SimulationWaiting& waiting_;
  CallBook& book_;
};

}  // namespace shoal::detail

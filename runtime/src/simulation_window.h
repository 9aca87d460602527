#pragma once

#include "call_book.h"
#include "simulation_waiting.h"

namespace shoal::detail {

/// Rounds of arrivals on flag lines that simulated ranks share. Each access to a line, or to what another rank shows,
/// is a scheduling point of its own.
class SimulationWindow : public Window {
 public:
  SimulationWindow(SimulatedJob& job, int rank, SimulationWaiting& waiting, CallBook& book)
      : job_(job), rank_(rank), self_(job.rank(rank)), waiting_(waiting), book_(book) {}

  void arrive(std::span<const std::byte> payload, std::uint64_t read_by_others, CallContext& context) override;
  void arrive_with_notice(std::span<const std::byte> notice, CallContext& context) override;
  std::span<const std::byte> await(int peer, CallContext& context) override;
  std::optional<Place> place_of(std::span<const std::byte> memory) const override;
  std::span<std::byte> staging(std::uint64_t round, const CallContext& context) override;
  std::span<std::byte> reach(Place place, std::size_t bytes, const CallContext& context) override;
  bool others_copy(const CallContext& context) override;
  void copy_from(int peer, Place place, std::span<std::byte> to, CallContext& context) override;
  void copy_to(int peer, Place place, std::span<const std::byte> from, CallContext& context) override;
  void charge(std::uint64_t sent, std::uint64_t received) override;

 private:
  void publish(std::span<const std::byte> payload, CallContext& context);
  SimulatedJob& job_;
  int rank_;
  SimulatedJob::Rank& self_;
  SimulationWaiting& waiting_;
  CallBook& book_;
};

}  // namespace shoal::detail

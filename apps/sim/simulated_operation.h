#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/phantom_call.h"

namespace shoal::sim {

/// What each rank moves in one call, as simulated.
struct SimulatedOperation {
  struct Rank {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t messages = 0;
    std::uint64_t steps = 0;
    std::chrono::nanoseconds clock{0};
    friend bool operator==(const Rank&, const Rank&) = default;
  };

  Operation operation = Operation::all_reduce;
  Algorithm algorithm = Algorithm::automatic;  ///< The one that ran.
  std::uint64_t bytes = 0;                     ///< Of the whole vector.
  std::vector<Rank> ranks;
  std::chrono::nanoseconds time{0};  ///< When the last rank was done, by the virtual clocks.
  bool closed_form_matches = false;  ///< On every rank.
};

/// Runs `call` in a world of `ranks`. Throws the Error of a call that cannot be.
SimulatedOperation simulate_operation(const PhantomCall& call, int ranks);

/// As of the contract: one JSON object, one line.
std::string json_text(const SimulatedOperation& result);
/// A table; consecutive ranks with the same figures share a row.
std::string table_text(const SimulatedOperation& result);

}  // namespace shoal::sim

#pragma once

#include <cstdint>
#include <vector>

#include "support/checked_call.h"

namespace shoal::test {

/// Every algorithm of every operation, and each operation's own choice, one after the other; the seed decides sizes,
/// roots and types. A list serves one simulation.
std::vector<CheckedCall> drawn_calls(int ranks, std::uint64_t seed);
/// SimulationOptions::channel_bytes of that seed: from none up.
std::uint64_t drawn_channel(std::uint64_t seed);

/// Runs the drawn calls in a simulated world of `ranks`, under schedules `first_seed` .. `first_seed + seeds - 1`.
/// Fails the current test at the first seed that goes wrong, and prints it; with SHOAL_SEED in the environment only
/// that seed is run.
void expect_every_algorithm_right(int ranks, std::uint64_t first_seed, std::uint64_t seeds);

}  // namespace shoal::test

#pragma once

#include <cstdint>

namespace shoal::test {

/// Runs every algorithm of every operation, and each operation's own choice, one after the other in one simulated world
/// of `ranks`, under schedules `first_seed` .. `first_seed + seeds - 1`. The seed also decides sizes, roots, types
/// and the channels' capacity. Fails the current test at the first seed that goes wrong, and prints it; with SHOAL_SEED
/// in the environment only that seed is run.
void expect_every_algorithm_right(int ranks, std::uint64_t first_seed, std::uint64_t seeds);

}  // namespace shoal::test

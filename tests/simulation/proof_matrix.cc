#include "simulation/proof_matrix.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>

#include "algorithms.h"
#include "arrivals.h"
#include "selection.h"
#include "support/checked_call.h"
#include "support/serial_reference.h"
#include "support/takes.h"

namespace shoal::test {
namespace {

constexpr std::array<std::uint64_t, 4> kChannels{0, 16, 64, 4096};
constexpr std::size_t kStaging = SimulationOptions{}.staging_bytes;

/// In every second world there is just staging enough for blocks of 16 elements, and ranks reach some buffers, or all,
/// or can copy out of what they do not reach and into it.
struct Memory {
  SimulationOptions::Reach reach;
  bool copies;
  std::size_t staging_bytes;
};
Memory drawn_memory(int ranks, std::uint64_t seed) {
  using Reach = SimulationOptions::Reach;
  if (seed % 2 == 1) return {.reach = Reach::none, .copies = false, .staging_bytes = kStaging};
  constexpr std::array kReach{Reach::some, Reach::all, Reach::some, Reach::none};
  return {.reach = kReach[seed / 2 % kReach.size()],
          .copies = seed / 2 / kReach.size() % 2 == 1,
          .staging_bytes = 64 * (static_cast<std::size_t>(ranks) + 1)};
}

constexpr std::size_t kFewBytes = 4096;
constexpr std::size_t kManyBytes = std::size_t{512} << 10;

/// Elements of 4 bytes: around the number of ranks, pieces of 16 bytes, channels, and the sizes at which an operation
/// changes its algorithm or begins another block.
std::vector<std::size_t> counts_for(int ranks, bool large) {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> counts{0,     1,         2,  p / 2, p / 2 + 1, p - 1,     p,
                                  p + 1, 2 * p - 1, 17, 4 * p, 4 * p + 1, 16 * p + 3};
  const auto around = [&](std::size_t bytes) {
    for (const std::size_t count : {bytes / 4 - 1, bytes / 4, bytes / 4 + 1}) counts.push_back(count);
  };
  around(kFewBytes);
  around(detail::kTinyBytes);      // Of a vector,
  around(detail::kTinyBytes * p);  // and of the chunks that all_gather joins.
  if (!large) return counts;
  counts.clear();
  around(detail::kPairwiseBlockBytes * p);
  around(detail::kBroadcastBlockBytes);
  around(kManyBytes);
  return counts;
}

}  // namespace

// Sizes are taken in turn, so that in 100 seeds each algorithm meets each: there are 22, and every fourth seed goes on
// to the next. Of the large ones, which a few seeds take, it meets some.
std::vector<CheckedCall> drawn_calls(int ranks, std::uint64_t seed) {
  // Blocks are large; a few worlds and seeds are enough to see them fit together.
  const bool large = ranks <= 5 && seed < 1'000 && seed % 50 == 7;
  const auto counts = counts_for(ranks, large);
  std::vector<CheckedCall> calls;
  std::uint64_t turn = seed / kChannels.size();
  for (const Operation operation : operations()) {
    std::vector<Algorithm> algorithms{Algorithm::automatic};
    for (const Algorithm algorithm : detail::algorithms_of(operation)) algorithms.push_back(algorithm);
    for (const Algorithm algorithm : algorithms) {
      const std::uint64_t bits = mixed_bits(seed * 1'000 + calls.size());
      std::size_t count = operation == Operation::barrier ? 0 : counts[turn++ % counts.size()];
      // Folded into what tiny takes, so that it meets every size there is for it.
      const std::size_t line = detail::kTinyBytes / 4;
      const std::size_t most = operation == Operation::all_gather ? line * static_cast<std::size_t>(ranks) : line;
      if (!takes(algorithm, operation, ranks, count, 4)) count %= most + 1;
      calls.emplace_back(
          CallSpec{.operation = operation,
                   .algorithm = algorithm,
                   .ranks = ranks,
                   .count = count,
                   .root = has_root(operation) ? static_cast<int>((bits >> 2) % static_cast<unsigned>(ranks)) : 0,
                   .type = (bits & 1) == 0 ? DataType::f32 : DataType::u32,
                   .in_place = (bits & 2) == 0,
                   .seed = bits});
    }
  }
  return calls;
}

std::uint64_t drawn_channel(std::uint64_t seed) { return kChannels[seed % kChannels.size()]; }

namespace {

void expect_right(int ranks, std::uint64_t seed) {
  const auto calls = drawn_calls(ranks, seed);
  const Memory memory = drawn_memory(ranks, seed);
  const auto result = simulate(ranks,
                               [&](Communicator& comm) {
                                 for (const CheckedCall& call : calls) call.run(comm);
                               },
                               {.seed = seed,
                                .channel_bytes = drawn_channel(seed),
                                .reach = memory.reach,
                                .copies = memory.copies,
                                .staging_bytes = memory.staging_bytes});
  ASSERT_TRUE(result.ok()) << result << "\nSHOAL_SEED=" << seed << " runs it alone";
  ASSERT_EQ(difference_from_cost(result, calls), "") << "SHOAL_SEED=" << seed << " runs it alone";
}

}  // namespace

void expect_every_algorithm_right(int ranks, std::uint64_t first_seed, std::uint64_t seeds) {
  if (const char* const only = std::getenv("SHOAL_SEED"); only != nullptr) {
    expect_right(ranks, std::strtoull(only, nullptr, 10));
    return;
  }
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    expect_right(ranks, seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace shoal::test

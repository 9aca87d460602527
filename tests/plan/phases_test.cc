#include "plan/phases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "plan/golden.h"
#include "plan/refused.h"

namespace shoal::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Ids = std::vector<std::int64_t>;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(Phases, AreThoseOfTheSeed) {
  for (const std::uint64_t world : {8U, 16U}) {
    const auto [strong, weak] = benchmark_phases(world);
    EXPECT_EQ(strong.name, "strong");
    EXPECT_EQ(strong.offset, 0U);
    EXPECT_EQ(strong.global_batch, 256U);
    EXPECT_EQ(strong.updates, 40U);
    EXPECT_EQ(strong.warmup, 10U);
    EXPECT_EQ(strong.timed_updates(), 30U);
    EXPECT_EQ(strong.replicated_base_world, std::nullopt);
    EXPECT_EQ(samples_read(strong, world), 10240U);
    EXPECT_EQ(weak.name, "weak");
    EXPECT_EQ(weak.offset, 10240U);
    EXPECT_EQ(weak.global_batch, world * 32);
    EXPECT_EQ(weak.updates, 12U);
    EXPECT_EQ(weak.warmup, 4U);
    EXPECT_EQ(weak.timed_updates(), 8U);
    EXPECT_EQ(weak.replicated_base_world, 8U);
    EXPECT_EQ(samples_read(weak, world), 13312U);
  }
}

TEST(StepIndices, AreThoseOfTheSeed) {
  const auto cases = golden("step_indices.json");
  ASSERT_EQ(cases.size(), 24U);
  for (const auto& one : cases) {
    const std::uint64_t world = one["world"];
    const auto phases = benchmark_phases(world);
    const Phase& phase = phases[one["phase"] == "strong" ? 0 : 1];
    EXPECT_EQ(step_indices(phase, one["step"], one["rank"], world, one["samples"]), one["indices"].get<Ids>()) << one;
  }
}

// 23 samples from 3 on, batches of 8 over 3 ranks: 3-10, 11-18, then 19-22, where rank 0 has one more.
TEST(StepIndices, LastBatchIsShorterAndNothingIsDropped) {
  const Phase phase{.name = "strong", .offset = 3, .global_batch = 8, .updates = 9};
  EXPECT_THAT(step_indices(phase, 0, 0, 3, 23), ElementsAre(3, 6, 9));
  EXPECT_THAT(step_indices(phase, 0, 2, 3, 23), ElementsAre(5, 8));
  EXPECT_THAT(step_indices(phase, 2, 0, 3, 23), ElementsAre(19, 22));
  EXPECT_THAT(step_indices(phase, 2, 1, 3, 23), ElementsAre(20));
  EXPECT_THAT(step_indices(phase, 2, 2, 3, 23), ElementsAre(21));
  EXPECT_THAT(step_indices(phase, 3, 0, 3, 23), IsEmpty());
  EXPECT_THAT(step_batch(phase, 2, 3, 23), ElementsAre(19, 20, 21, 22));
  EXPECT_EQ(batch_of_rank(phase, 0, 3), 3U);
  EXPECT_EQ(batch_of_rank(phase, 2, 3), 2U);
  EXPECT_EQ(batch_of_rank(phase, 8, 9), 0U);  // More ranks than samples.
}

// Base world 2, three samples a rank from 10 on: ranks 0 and 2 have 10, 12, 14, rank 1 has 11, 13, 15.
TEST(StepIndices, ReplicatedRanksHaveTheStreamsOfTheBaseWorld) {
  const Phase phase{.name = "weak", .offset = 10, .global_batch = 9, .updates = 2, .replicated_base_world = 2};
  EXPECT_THAT(step_indices(phase, 0, 0, 3, 0), ElementsAre(10, 12, 14));
  EXPECT_THAT(step_indices(phase, 0, 1, 3, 0), ElementsAre(11, 13, 15));
  EXPECT_THAT(step_indices(phase, 0, 2, 3, 0), ElementsAre(10, 12, 14));
  EXPECT_THAT(step_indices(phase, 1, 1, 3, 0), ElementsAre(17, 19, 21));
  EXPECT_THAT(step_batch(phase, 0, 3, 0), ElementsAre(10, 11, 10, 12, 13, 12, 14, 15, 14));
  EXPECT_EQ(batch_of_rank(phase, 2, 3), 3U);
  EXPECT_EQ(samples_read(phase, 3), 22U);
}

// B05, B06: whatever the world, every sample once, in the same union for each update.
TEST(StepIndices, StrongUpdatesAreTheSameSamplesInEveryWorldEachOnce) {
  for (const std::uint64_t samples : {0U, 1U, 10U, 103U, 1000U}) {
    for (std::uint64_t batch = 1; batch <= 40; batch += 13) {
      const Phase phase{.name = "strong", .global_batch = batch, .updates = 1};
      for (std::uint64_t world = 1; world <= 17; ++world) {
        Ids seen;
        for (std::uint64_t step = 0; step * batch < samples; ++step) {
          Ids update;
          for (std::uint64_t rank = 0; rank < world; ++rank) {
            const Ids ids = step_indices(phase, step, rank, world, samples);
            EXPECT_LE(ids.size(), batch_of_rank(phase, rank, world));
            update.insert(update.end(), ids.begin(), ids.end());
          }
          std::sort(update.begin(), update.end());
          seen.insert(seen.end(), update.begin(), update.end());
        }
        Ids all(samples);
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
        EXPECT_EQ(seen, all) << "samples " << samples << ", batch " << batch << ", world " << world;
      }
    }
  }
}

// The seed's rule, value by value, in worlds that it does not allow, too.
TEST(StepIndices, WeakOnesAreTheSameWorkForEveryRankOfAnyWorld) {
  for (const std::uint64_t world : {1U, 2U, 5U, 7U, 8U, 9U, 13U, 24U}) {
    const Phase weak = benchmark_phases(world)[1];
    for (std::uint64_t step = 0; step < 12; ++step) {
      for (std::uint64_t rank = 0; rank < world; ++rank) {
        Ids expected;
        for (std::uint64_t i = 0; i < 32; ++i)
          expected.push_back(static_cast<std::int64_t>(10240 + step * 256 + rank % 8 + i * 8));
        EXPECT_EQ(step_indices(weak, step, rank, world, 16384), expected) << world << ' ' << step << ' ' << rank;
      }
    }
  }
}

TEST(StepBatch, GivesEachRankItsIndicesInStridesOfTheWorld) {
  for (const std::uint64_t world : {1U, 3U, 8U, 12U, 16U, 300U}) {
    for (const Phase& phase : benchmark_phases(world)) {
      for (const std::uint64_t step : {0U, 1U, 39U}) {
        for (const std::uint64_t samples : {16384U, 10000U, 300U}) {
          const Ids batch = step_batch(phase, step, world, samples);
          for (std::uint64_t rank = 0; rank < world; ++rank) {
            Ids own;
            for (std::size_t i = rank; i < batch.size(); i += world) own.push_back(batch[i]);
            EXPECT_EQ(own, step_indices(phase, step, rank, world, samples))
                << phase.name << ' ' << world << ' ' << step;
          }
        }
      }
    }
  }
}

TEST(Phases, OtherSizesGiveOtherPhases) {
  const auto [strong, weak] = benchmark_phases(
      3, {.strong_batch = 10, .strong_updates = 4, .strong_warmup = 0, .weak_batch = 5, .weak_base_world = 2});
  EXPECT_EQ(strong.global_batch, 10U);
  EXPECT_EQ(strong.timed_updates(), 4U);
  EXPECT_EQ(weak.offset, 40U);
  EXPECT_EQ(weak.global_batch, 15U);
  EXPECT_THAT(step_indices(weak, 1, 2, 3, 0), ElementsAre(50, 52, 54, 56, 58));
}

TEST(Phases, WhatCannotBeIsRefusedByName) {
  expect_refused([] { benchmark_phases(0); }, "world 0: at least 1");
  expect_refused([] { benchmark_phases(kMost); }, "world 18446744073709551615: over 2^63 - 1");
  expect_refused([] { benchmark_phases(std::uint64_t{1} << 60U); }, "weak batch: 1152921504606846976 * 32 is over");
  expect_refused([] { benchmark_phases(8, {.strong_batch = 0}); }, "strong batch 0: at least 1");
  expect_refused([] { benchmark_phases(8, {.strong_batch = kMost / 4}); }, "strong phase: 40 * ");
  expect_refused([] { benchmark_phases(8, {.weak_batch = 0}); }, "weak batch 0: at least 1");
  expect_refused([] { benchmark_phases(8, {.weak_base_world = 0}); }, "weak base world 0");
  expect_refused([] { benchmark_phases(8, {.strong_warmup = 40}); }, "strong warm-up 40: leaves none of 40 updates");
  expect_refused([] { benchmark_phases(8, {.weak_updates = 0}); }, "weak warm-up 4: leaves none of 0 updates");
}

TEST(StepIndices, WhatCannotBeIsRefusedByName) {
  const auto [strong, weak] = benchmark_phases(8);
  const Phase uneven{.name = "weak", .global_batch = 9, .updates = 1, .replicated_base_world = 2};
  expect_refused([&] { step_indices(strong, 0, 8, 8, 100); }, "rank 8: not in a world of 8");
  expect_refused([&] { step_indices(strong, 0, 0, 0, 100); }, "rank 0: not in a world of 0");
  expect_refused([&] { step_batch(strong, 0, 0, 100); }, "world 0");
  expect_refused([&] { step_indices(strong, 0, 0, 8, kMost); }, "samples 18446744073709551615");
  expect_refused([&] { step_indices(weak, kMost, 0, 8, 100); }, "weak step 18446744073709551615");
  expect_refused([&] { step_indices(weak, std::uint64_t{1} << 55U, 0, 8, 100); }, "weak step 36028797018963968");
  expect_refused([&] { step_indices(uneven, 0, 0, 4, 100); }, "weak batch 9: no multiple of the world of 4");
}

TEST(StepIndices, StepsFarBeyondTheSamplesAreEmptyAndTheLastIdsAreExact) {
  constexpr std::uint64_t kMostSamples = (std::uint64_t{1} << 63U) - 1;
  const Phase strong = benchmark_phases(8)[0];
  EXPECT_THAT(step_indices(strong, kMost, 0, 8, 100), IsEmpty());
  EXPECT_THAT(step_indices(strong, kMost, 7, 8, kMostSamples), IsEmpty());
  // 2^63 - 1 = 255 modulo 256: the last batch lacks one sample, which would be rank 255's of 256.
  const std::uint64_t last = kMostSamples / 256;
  EXPECT_THAT(step_indices(strong, last, 254, 256, kMostSamples), ElementsAre(9223372036854775806));
  EXPECT_THAT(step_indices(strong, last, 255, 256, kMostSamples), IsEmpty());
  // A world that is as large as can be.
  EXPECT_THAT(step_indices(strong, 0, 255, kMostSamples, 300), ElementsAre(255));
  EXPECT_THAT(step_indices(strong, 0, kMostSamples - 1, kMostSamples, 300), IsEmpty());
}

}  // namespace
}  // namespace shoal::plan

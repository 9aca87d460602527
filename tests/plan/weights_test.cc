#include "plan/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "plan/golden.h"
#include "plan/refused.h"

namespace shoal::plan {
namespace {

TokenCounts counts_of(const nlohmann::json& one) {
  return {one["local_frames"], one["local_samples"], one["global_frames"], one["global_samples"]};
}

TEST(DynamicWeights, AreThoseOfTheSeedToTheLastBit) {
  const auto cases = golden("weights.json");
  ASSERT_EQ(cases.size(), 12U);
  for (const auto& one : cases) {
    const DynamicWeights result = dynamic_weights(counts_of(one), one["world"]);
    EXPECT_EQ(result.weights, one["weights"].get<std::vector<double>>()) << one;
    EXPECT_EQ(result.scale, one["scale"].get<double>()) << one;
  }
}

// 3 of 8 frames and 1 of 2 samples in a world of 2: text 2 (3 + 1) / (8 + 2), audio 6 / 3 * 2 * 3 / 8 each.
TEST(DynamicWeights, OtherChannelsShareTheirWeightEvenly) {
  const auto [weights, scale] = dynamic_weights({3, 1, 8, 2}, 2, {.audio = 3, .audio_weight = 6.0});
  EXPECT_EQ(weights, (std::vector{0.8, 1.5, 1.5, 1.5}));
  EXPECT_EQ(scale, (0.8 + 1.5 + 1.5 + 1.5) / 7.0);
}

TEST(DynamicWeights, MicrobatchWithNothingWeighsNothing) {
  const auto [weights, scale] = dynamic_weights({0, 0, 5, 1}, 4);
  EXPECT_EQ(weights, std::vector<double>(13, 0.0));
  EXPECT_EQ(scale, 0.0);
}

// The seed's use: each microbatch's loss is a weighted mean over channels of means over tokens, times the scale; a rank
// adds its microbatches, and the ranks' sums are averaged. Values of integers and counts of any size: the mean over all
// tokens, channel by channel, counted by hand in the loop.
TEST(DynamicWeights, GiveTheMeanOverAllTokensWhateverTheRanksAndMicrobatches) {
  struct Part {
    std::uint64_t rank, frames, samples;
  };
  const std::vector<std::vector<Part>> partitions{
      {{0, 24, 6}},                                              // One rank with all.
      {{0, 1, 1}, {1, 23, 5}},                                   // Two, unevenly.
      {{0, 5, 1}, {0, 7, 2}, {1, 4, 1}, {2, 1, 1}, {2, 7, 1}},   // Three ranks, several microbatches.
      {{0, 8, 2}, {1, 0, 0}, {2, 16, 4}, {3, 0, 0}, {4, 0, 0}},  // Ranks with nothing.
  };
  for (const auto& partition : partitions) {
    const std::uint64_t world = partition.back().rank + 1;
    // Frame i has the value i + 1 in the audio channels; text token i, of frames then samples, has i + 3.
    const double audio_mean = (1.0 + 24.0) / 2.0;
    const double text_mean = (3.0 + 32.0) / 2.0;
    double audio = 0.0;
    double text = 0.0;
    std::uint64_t frame = 0;
    std::uint64_t token = 0;
    for (const Part& part : partition) {
      const auto [weights, scale] = dynamic_weights({part.frames, part.samples, 24, 6}, world);
      const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
      if (all == 0.0) continue;
      double of_audio = 0.0;
      double of_text = 0.0;
      for (std::uint64_t i = 0; i < part.frames; ++i) of_audio += static_cast<double>(++frame);
      for (std::uint64_t i = 0; i < part.frames + part.samples; ++i) of_text += static_cast<double>(2 + ++token);
      audio += of_audio / static_cast<double>(part.frames) * weights[1] / all * scale;
      text += of_text / static_cast<double>(part.frames + part.samples) * weights[0] / all * scale;
    }
    EXPECT_NEAR(audio / static_cast<double>(world), audio_mean * (32.0 / 12.0) / 33.0, 1e-13);
    EXPECT_NEAR(text / static_cast<double>(world), text_mean / 33.0, 1e-13);
  }
}

TEST(DynamicWeights, WhatCannotBeIsRefusedByName) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53U;
  expect_refused([] { dynamic_weights({0, 1, 0, 1}, 1); }, "global frames 0: at least 1");
  expect_refused([] { dynamic_weights({1, 0, 1, 0}, 1); }, "global samples 0: at least 1");
  expect_refused([] { dynamic_weights({1, 1, 1, 1}, 0); }, "world 0: at least 1");
  expect_refused([] { dynamic_weights({2, 1, 1, 1}, 1); }, "local frames 2: more than the 1 of all ranks");
  expect_refused([] { dynamic_weights({1, 2, 1, 1}, 1); }, "local samples 2: more than the 1 of all ranks");
  expect_refused([] { dynamic_weights({kExact, 1, kExact, 1}, 1); }, "9007199254740993 is over 2^53");
  expect_refused([] { dynamic_weights({1, 1, kMost, 1}, 1); }, "text tokens");
  expect_refused([] { dynamic_weights({1, 1, 1, 1}, kMost); }, "world: 18446744073709551615 is over 2^53");
  expect_refused([] { dynamic_weights({1, 1, 1, 1}, 1, {.audio = 0}); }, "channels 0: at least 1");
  expect_refused(
      [] {
        dynamic_weights({1, 1, 1, 1}, 1, {.audio = kMost});
      },
      "channels 18446744073709551615: over 2^20");
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    expect_refused(
        [&] {
          dynamic_weights({1, 1, 1, 1}, 1, {.audio_weight = bad});
        },
        "channels weight: a finite number");
  expect_refused([] { dynamic_weights({1, 1, 1, 1}, 4, {.audio_weight = 1e308}); }, "channels weight: too large");
}

TEST(DynamicWeights, LargestCountsAreExact) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 52U;
  const auto [weights, scale] = dynamic_weights({kHalf - 1, 1, kHalf - 1, 1}, 1);
  EXPECT_EQ(weights.front(), 1.0);
  EXPECT_EQ(weights.back(), 32.0 / 12.0);
}

}  // namespace
}  // namespace shoal::plan

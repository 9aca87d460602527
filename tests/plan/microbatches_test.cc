#include "plan/microbatches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/golden.h"
#include "plan/refused.h"

namespace shoal::plan {
namespace {

using Batches = std::vector<std::vector<std::size_t>>;
using Lengths = std::vector<std::uint64_t>;

constexpr std::uint64_t kUnbounded = MicrobatchLimits::kUnbounded;

TEST(Microbatches, AreThoseOfTheSeed) {
  const auto cases = golden("microbatches.json");
  ASSERT_EQ(cases.size(), 12U);
  for (const auto& one : cases) {
    const MicrobatchLimits limits{.max_padded_tokens = one["max_padded_tokens"], .max_examples = one["max_examples"]};
    EXPECT_EQ(microbatches(one["lengths"].get<Lengths>(), limits), one["batches"].get<Batches>()) << one;
  }
}

// Sorted: 1 (at 1), 2 (at 2, then 4), 3 (at 0), 5 (at 3). Three of up to 2 are 6 tokens, a fourth of 3 would make 12;
// 3 and 5 would be 10.
TEST(Microbatches, TakeTheShorterFirstAndPaddingCounts) {
  const Lengths lengths{3, 1, 2, 5, 2};
  EXPECT_EQ(microbatches(lengths, {.max_padded_tokens = 9}), (Batches{{1, 2, 4}, {0}, {3}}));
  EXPECT_EQ(microbatches(lengths, {.max_padded_tokens = 10}), (Batches{{1, 2, 4}, {0, 3}}));
  EXPECT_EQ(microbatches(lengths, {.max_padded_tokens = 12}), (Batches{{1, 2, 4, 0}, {3}}));
  EXPECT_EQ(microbatches(lengths, {.max_examples = 2}), (Batches{{1, 2}, {4, 0}, {3}}));
  EXPECT_EQ(microbatches(lengths, {.max_examples = 1}), (Batches{{1}, {2}, {4}, {0}, {3}}));
  EXPECT_EQ(microbatches(lengths), (Batches{{1, 2, 4, 0, 3}}));
}

TEST(Microbatches, OfNothingAreNoneAndEmptyExamplesAreNotLost) {
  EXPECT_EQ(microbatches({}), Batches{});
  EXPECT_EQ(microbatches(Lengths{0}), Batches{{0}});
  EXPECT_EQ(microbatches(Lengths{4, 0, 0}, {.max_padded_tokens = 4}), (Batches{{1, 2}, {0}}));
}

// Sorted: 2 (at 3), 3 (at 0), 3 (at 4), 8 (at 1), 9 (at 2). The last two are over the limit, each by itself.
TEST(Microbatches, ExampleOverTheLimitHasOneToItselfAsInTheSeed) {
  EXPECT_EQ(microbatches(Lengths{3, 8, 9, 2, 3}, {.max_padded_tokens = 7}), (Batches{{3, 0}, {4}, {1}, {2}}));
  EXPECT_EQ(microbatches(Lengths{5}, {.max_padded_tokens = 1}), Batches{{0}});
}

TEST(Microbatches, AreNotCutWhereNothingBoundsThem) {
  const Lengths lengths(1000, 40);
  EXPECT_EQ(microbatches(lengths).size(), 63U);                               // 16 of them a time.
  EXPECT_EQ(microbatches(lengths, {.max_examples = kUnbounded}).size(), 4U);  // 300 of them.
  EXPECT_EQ(microbatches(lengths, {.max_padded_tokens = kUnbounded}).size(), 63U);
  EXPECT_EQ(microbatches(lengths, {kUnbounded, kUnbounded}).size(), 1U);
}

TEST(Microbatches, HoldEveryPositionOnceWithinTheBoundsWhateverTheLengths) {
  std::uint64_t state = 1;
  for (std::size_t count = 0; count < 200; ++count) {
    Lengths lengths(count);
    for (std::uint64_t& length : lengths) length = (state = state * 6364136223846793005U + 1) >> 33U & 127U;
    const MicrobatchLimits limits{.max_padded_tokens = 127 + count, .max_examples = 1 + count % 9};
    std::vector<std::size_t> seen;
    std::uint64_t before = 0;
    for (const auto& batch : microbatches(lengths, limits)) {
      ASSERT_FALSE(batch.empty());
      EXPECT_LE(batch.size(), limits.max_examples);
      EXPECT_LE(lengths[batch.back()] * batch.size(), limits.max_padded_tokens);
      for (const std::size_t position : batch) {
        EXPECT_GE(lengths[position], before);
        before = lengths[position];
        seen.push_back(position);
      }
    }
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen.size(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(seen[i], i);
  }
}

TEST(Microbatches, WhatCannotBeIsRefusedByName) {
  expect_refused([] { microbatches(Lengths{1}, {.max_padded_tokens = 0}); }, "max padded tokens 0: at least 1");
  expect_refused([] { microbatches(Lengths{1}, {.max_examples = 0}); }, "max examples 0: at least 1");
}

TEST(MicrobatchLimits, LargestNumbersDoNotWrap) {
  const MicrobatchLimits most{.max_padded_tokens = kUnbounded, .max_examples = kUnbounded};
  EXPECT_TRUE(most.takes(1, kUnbounded / 2));
  EXPECT_FALSE(most.takes(1, kUnbounded / 2 + 1));  // Twice that is 2^64.
  EXPECT_FALSE(most.takes(2, kUnbounded / 2));
  EXPECT_EQ(most.most_tokens(3), kUnbounded);
  EXPECT_EQ(microbatches(Lengths{kUnbounded, kUnbounded}, most), (Batches{{0}, {1}}));
}

TEST(MicrobatchLimits, MostTokensAreThoseOfTheTighterBound) {
  EXPECT_EQ((MicrobatchLimits{.max_padded_tokens = 100, .max_examples = 3}.most_tokens(9)), 27U);
  EXPECT_EQ((MicrobatchLimits{.max_padded_tokens = 20, .max_examples = 3}.most_tokens(9)), 20U);
  EXPECT_EQ((MicrobatchLimits{.max_padded_tokens = 5, .max_examples = 3}.most_tokens(9)), 9U);
  EXPECT_EQ((MicrobatchLimits{.max_padded_tokens = 5, .max_examples = 3}.most_tokens(0)), 0U);
}

}  // namespace
}  // namespace shoal::plan

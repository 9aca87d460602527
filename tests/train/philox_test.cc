#include "train/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "train/initial.h"

namespace shoal::train {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The known answers that come with Random123, the authors' library (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(CounterGenerator, CutsEachBlockIntoTwoWordsLowHalfFirst) {
  const CounterGenerator generator(0, Purpose::parameters);
  EXPECT_EQ(generator.word(0), 0xe169c58d6627e8d5U);
  EXPECT_EQ(generator.word(1), 0x9b00dbd8bc57ac4cU);
}

TEST(CounterGenerator, SpreadsSeedAndBlockOverTheWordsOfKeyAndCounter) {
  const CounterGenerator generator(0x299f31d0a4093822, Purpose::order, 0x03707344);
  const Words words = philox4x32({0x243f6a88, 0x05a308d3, 1, 0x03707344}, {0xa4093822, 0x299f31d0});
  EXPECT_EQ(generator.word(2 * 0x05a308d3243f6a88U), std::uint64_t{words[1]} << 32U | words[0]);
}

TEST(CounterGenerator, SeedsPurposesAndSubsequencesHaveNumbersOfTheirOwn) {
  std::set<std::uint64_t> words;
  for (const std::uint64_t seed : {0ULL, 1ULL, 1ULL << 32U})
    for (const Purpose purpose : {Purpose::parameters, Purpose::order})
      for (const std::uint32_t subsequence : {0U, 1U})
        words.insert(CounterGenerator(seed, purpose, subsequence).word(5));
  EXPECT_EQ(words.size(), 12U);
}

TEST(CounterGenerator, NormalsHaveTheMomentsOfNormals) {
  const CounterGenerator generator(42, Purpose::parameters);
  constexpr int kCount = 200'000;
  double sum = 0.0;
  double squares = 0.0;
  double fourths = 0.0;
  double neighbours = 0.0;
  double last = generator.normal(kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double value = generator.normal(i);
    sum += value;
    squares += value * value;
    fourths += value * value * value * value;
    neighbours += value * last;
    last = value;
  }
  // Five standard deviations of each mean: sqrt(1/n), sqrt(2/n), sqrt(96/n), sqrt(1/n).
  EXPECT_NEAR(sum / kCount, 0.0, 5 * std::sqrt(1.0 / kCount));
  EXPECT_NEAR(squares / kCount, 1.0, 5 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(fourths / kCount, 3.0, 5 * std::sqrt(96.0 / kCount));
  EXPECT_NEAR(neighbours / kCount, 0.0, 5 * std::sqrt(1.0 / kCount));
}

TEST(InitialParameters, AnyShardIsThatPartOfTheWhole) {
  const Layer layer{.inputs = 6, .outputs = 5, .offset = 1001};  // 30 weights, 5 biases; an odd offset.
  std::vector<float> whole(layer.size());
  initial_parameters(layer, 7, 0, whole);
  for (std::size_t first = 0; first <= whole.size(); ++first) {
    for (std::size_t count = 0; first + count <= whole.size(); ++count) {
      std::vector<float> shard(count);
      initial_parameters(layer, 7, first, shard);
      ASSERT_TRUE(std::equal(shard.begin(), shard.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
    }
  }
}

TEST(InitialParameters, AreHesWithZeroBiases) {
  const Layer layer{.inputs = 200, .outputs = 300, .offset = 0};
  std::vector<float> values(layer.size());
  initial_parameters(layer, 3, 0, values);
  double squares = 0.0;
  for (std::size_t i = 0; i < layer.weights(); ++i) squares += static_cast<double>(values[i]) * values[i];
  // Variance 2/200, of 60,000 values: five standard deviations of its estimate are 5 sqrt(2/60000) of it.
  EXPECT_NEAR(squares / 60'000 / (2.0 / 200), 1.0, 5 * std::sqrt(2.0 / 60'000));
  for (std::size_t i = layer.weights(); i < layer.size(); ++i) EXPECT_EQ(values[i], 0.0F);
  EXPECT_EQ(values[0], static_cast<float>(CounterGenerator(3, Purpose::parameters).normal(0) * 0.1));
}

}  // namespace
}  // namespace shoal::train

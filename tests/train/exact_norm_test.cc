#include "train/exact_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace shoal::train {
namespace {

double norm_in_parts(const std::vector<float>& values, const std::vector<std::size_t>& sizes) {
  std::int64_t scale = -kNotFinite;
  const auto for_each_part = [&](auto&& visit) {
    std::size_t first = 0;
    for (const std::size_t size : sizes) {
      visit(std::span(values).subspan(first, size));
      first += size;
    }
    ASSERT_EQ(first, values.size());
  };
  for_each_part([&](std::span<const float> part) { scale = std::max(scale, squares_scale(part)); });
  SumOfSquares sum{};
  for_each_part([&](std::span<const float> part) {
    const SumOfSquares squares = scaled_squares(part, scale);
    for (std::size_t digit = 0; digit < sum.size(); ++digit) sum[digit] += squares[digit];
  });
  return norm_of(sum, scale);
}

TEST(ExactNorm, OfThreeAndFourIsFive) {
  EXPECT_EQ(norm_in_parts({3.0F, -4.0F}, {2}), 5.0);
  EXPECT_EQ(norm_in_parts({3.0F, -4.0F}, {1, 1}), 5.0);
  EXPECT_EQ(norm_in_parts({3.0F, -4.0F}, {0, 2, 0}), 5.0);
}

TEST(ExactNorm, OfNothingAndOfZerosIsZero) {
  EXPECT_EQ(norm_in_parts({}, {}), 0.0);
  EXPECT_EQ(norm_in_parts({0.0F, -0.0F}, {1, 1}), 0.0);
}

// 2^60 + 1 has no double: added one by one the ones are lost, 2^20 of them together are not.
TEST(ExactNorm, LosesNoSmallSquareBesideALargeOne) {
  std::vector<float> values(1 + (1U << 20U), 1.0F);
  values[0] = 0x1p30F;
  const double expected = std::sqrt(0x1p60 + 0x1p20);
  EXPECT_EQ(norm_in_parts(values, {values.size()}), expected);
  std::swap(values.front(), values.back());
  EXPECT_EQ(norm_in_parts(values, {1, 100, values.size() - 101}), expected);
}

TEST(ExactNorm, HoldsTheWholeRangeOfFloats) {
  const float largest = std::numeric_limits<float>::max();
  const float smallest = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(norm_in_parts({largest}, {1}), static_cast<double>(largest));
  EXPECT_EQ(norm_in_parts({smallest}, {1}), static_cast<double>(smallest));
  EXPECT_EQ(norm_in_parts({largest, largest, largest, largest}, {2, 2}), 2.0 * static_cast<double>(largest));
  EXPECT_EQ(norm_in_parts({smallest, largest}, {1, 1}), static_cast<double>(largest));
}

TEST(ExactNorm, IsTheSameBitsInAnyOrderAndInAnyParts) {
  std::mt19937 random(7);
  std::vector<float> values;
  for (int i = 0; i < 3000; ++i)
    values.push_back(std::ldexp(std::uniform_real_distribution<float>(-1.0F, 1.0F)(random),
                                std::uniform_int_distribution<int>(-60, 60)(random)));
  long double plain = 0.0L;
  for (const float value : values) plain += static_cast<long double>(value) * static_cast<long double>(value);
  const double expected = norm_in_parts(values, {3000});
  EXPECT_NEAR(expected / static_cast<double>(std::sqrt(plain)), 1.0, 1e-15);
  for (const std::vector<std::size_t>& sizes :
       {std::vector<std::size_t>{1, 2999}, {1000, 1000, 1000}, {2999, 1}, {7, 0, 93, 1900, 1000}}) {
    std::shuffle(values.begin(), values.end(), random);
    EXPECT_EQ(norm_in_parts(values, sizes), expected);
  }
}

TEST(ExactNorm, TellsWhatIsNotFinite) {
  for (const float wrong : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN()})
    EXPECT_EQ(squares_scale(std::vector<float>{1.0F, wrong, 0x1p100F}), kNotFinite);
}

}  // namespace
}  // namespace shoal::train

// The serial reference of --check, by hand.
#include "bench/serial.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace shoal::bench {
namespace {

TEST(SerialReference, TreeCombinesFarRanksFirst) {
  std::array three{1e8F, 1.0F, -1e8F};
  EXPECT_EQ(by_tree<float>(ReduceOp::sum, three), 1.0F);  // (0 + 2) + 1; from left to right it would be 0.
  std::array four{1e8F, 1.0F, -1e8F, 1.0F};
  EXPECT_EQ(by_tree<float>(ReduceOp::sum, four), 2.0F);
  std::array one{7.0F};
  EXPECT_EQ(by_tree<float>(ReduceOp::prod, one), 7.0F);
}

TEST(SerialReference, RingHasAnOrderOfItsOwnForEachChunk) {
  const std::array values{1e8F, 1.0F, -1e8F};
  EXPECT_EQ(by_ring<float>(ReduceOp::sum, values, 0), 0.0F);  // 0 + (2 + 1)
  EXPECT_EQ(by_ring<float>(ReduceOp::sum, values, 1), 1.0F);  // 1 + (0 + 2)
}

TEST(SerialReference, StepsAreThoseOfTheReductions) {
  EXPECT_EQ(combined<std::int8_t>(ReduceOp::sum, 100, 100), -56);
  EXPECT_EQ(combined<std::int8_t>(ReduceOp::prod, 16, 17), 16);
  EXPECT_EQ(combined<std::uint8_t>(ReduceOp::band, 0b1100, 0b1010), 0b1000);
  EXPECT_EQ(combined<std::uint8_t>(ReduceOp::bor, 0b1100, 0b1010), 0b1110);
  EXPECT_EQ(combined<std::uint8_t>(ReduceOp::bxor, 0b1100, 0b1010), 0b0110);
  EXPECT_EQ(combined<std::int8_t>(ReduceOp::min, -3, 2), -3);
  EXPECT_EQ(combined<std::int8_t>(ReduceOp::max, -3, 2), 2);
  EXPECT_EQ(combined(ReduceOp::prod, 1.5, -2.0), -3.0);
}

TEST(SerialReference, ValuesDifferByRankAndPosition) {
  std::set<std::int64_t> values;
  for (int rank = 0; rank < 4; ++rank)
    for (std::size_t index = 0; index < 1000; ++index) values.insert(value_at<std::int64_t>(rank, index));
  EXPECT_EQ(values.size(), 4000U);
}

TEST(SerialReference, MeansAreDividedOnce) {
  const auto at = [](int rank) { return std::int64_t{value_at<std::int32_t>(rank, 5)}; };
  SerialResult<std::int32_t> integers({.op = ReduceOp::mean, .ranks = 3, .count = 9});
  EXPECT_EQ(integers(5), (at(0) + at(1) + at(2)) / 3);

  const auto real = [](int rank) { return value_at<float>(rank, 5); };
  SerialResult<float> floats({.op = ReduceOp::mean, .ranks = 3, .count = 9});
  EXPECT_EQ(floats(5), ((real(0) + real(2)) + real(1)) / 3.0F);
}

TEST(SerialReference, HalvesAreRoundedOnce) {
  const auto at = [](int rank) { return static_cast<float>(value_at<bf16>(rank, 2)); };
  SerialResult<bf16> sum({.op = ReduceOp::sum, .ranks = 4, .count = 3});
  EXPECT_EQ(sum(2), bf16((at(0) + at(2)) + (at(1) + at(3))));
}

TEST(SerialReference, RingOfAPositionIsThatOfItsChunk) {
  const auto at = [](int rank, std::size_t index) { return value_at<float>(rank, index); };
  SerialResult<float> sum({.op = ReduceOp::sum, .algorithm = Algorithm::ring, .ranks = 3, .count = 7});  // 3, 2, 2.
  EXPECT_EQ(sum(2), at(0, 2) + (at(2, 2) + at(1, 2)));
  EXPECT_EQ(sum(3), at(1, 3) + (at(0, 3) + at(2, 3)));
  EXPECT_EQ(sum(6), at(2, 6) + (at(1, 6) + at(0, 6)));
}

}  // namespace
}  // namespace shoal::bench

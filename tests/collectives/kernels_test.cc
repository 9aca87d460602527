#include "kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "collective_checks.h"

namespace shoal::test {
namespace {

using detail::fold_kernel;
using detail::tree_kernel;

/// Values at any byte offset of a buffer that ends where they end, so that AddressSanitizer sees each byte too many.
template <class T>
class Unaligned {
 public:
  Unaligned(const std::vector<T>& values, std::size_t offset)
      : count_(values.size()), offset_(offset), bytes_(std::make_unique<std::byte[]>(offset + count_ * sizeof(T))) {
    if (count_ > 0) std::memcpy(data(), values.data(), count_ * sizeof(T));
  }

  std::byte* data() { return bytes_.get() + offset_; }
  std::vector<T> values() {
    std::vector<T> values(count_);
    if (count_ > 0) std::memcpy(values.data(), data(), count_ * sizeof(T));
    return values;
  }

 private:
  std::size_t count_;
  std::size_t offset_;
  std::unique_ptr<std::byte[]> bytes_;
};

/// Runs the tree kernel over the ranks' values_of, each at an offset of its own.
template <class T>
std::vector<T> tree_of(ReduceOp op, int ranks, std::size_t count, std::size_t offset) {
  std::vector<Unaligned<T>> operands;
  std::vector<const std::byte*> pointers;
  for (int rank = 0; rank < ranks; ++rank)
    operands.emplace_back(values_of<T>(rank, count), (offset + static_cast<std::size_t>(rank) * 3) % 64);
  for (auto& operand : operands) pointers.push_back(operand.data());
  Unaligned<T> out(blank<T>(count), offset);
  tree_kernel(op, kDataType<T>)(out.data(), pointers, count);
  return out.values();
}

TEST(TreeKernel, CombinesAlongTheCanonicalTreeForAnyNumberOfRanks) {
  for_each_type(AllTypes{}, []<class T>() {
    for (const ReduceOp op : kAllReductions) {
      if (!detail::is_defined(op, kDataType<T>)) continue;
      for (int ranks = 1; ranks <= 17; ++ranks) {
        SCOPED_TRACE(case_text(37, kDataType<T>, op) + ", ranks " + std::to_string(ranks));
        EXPECT_TRUE(same_bits(reduced_values<T>(op, ranks, 37), tree_of<T>(op, ranks, 37, 0)));
      }
    }
  });
}

TEST(TreeKernel, GivesTheSameAtEveryAlignment) {
  for_each_type(AllTypes{}, []<class T>() {
    for (const ReduceOp op : kAllReductions) {
      if (!detail::is_defined(op, kDataType<T>)) continue;
      const auto expected = reduced_values<T>(op, 5, 69);
      for (std::size_t offset = 0; offset < 64; ++offset) {
        SCOPED_TRACE(case_text(69, kDataType<T>, op) + ", offset " + std::to_string(offset));
        EXPECT_TRUE(same_bits(expected, tree_of<T>(op, 5, 69, offset)));
      }
    }
  });
}

TEST(TreeKernel, GivesTheSameAcrossItsTiles) {
  for (const std::size_t count : {0U, 1U, 511U, 512U, 513U, 2047U, 2049U, 5000U}) {
    EXPECT_TRUE(same_bits(reduced_values<float>(ReduceOp::sum, 6, count), tree_of<float>(ReduceOp::sum, 6, count, 1)));
    EXPECT_TRUE(same_bits(reduced_values<std::int64_t>(ReduceOp::mean, 6, count),
                          tree_of<std::int64_t>(ReduceOp::mean, 6, count, 1)));
  }
}

TEST(TreeKernel, MayWriteOverAnyOfItsOperands) {
  for (int target = 0; target < 7; ++target) {
    std::vector<std::vector<double>> operands;
    std::vector<const std::byte*> pointers;
    for (int rank = 0; rank < 7; ++rank) operands.push_back(values_of<double>(rank, 1000));
    for (const auto& operand : operands) pointers.push_back(std::as_bytes(std::span(operand)).data());
    auto& out = operands[static_cast<std::size_t>(target)];
    tree_kernel(ReduceOp::sum, DataType::f64)(std::as_writable_bytes(std::span(out)).data(), pointers, 1000);
    EXPECT_TRUE(same_bits(reduced_values<double>(ReduceOp::sum, 7, 1000), out)) << "over operand " << target;
  }
}

TEST(FoldKernel, CombinesTwoAtEveryAlignment) {
  for_each_type(AllTypes{}, []<class T>() {
    for (const ReduceOp op : kAllReductions) {
      if (!detail::is_defined(op, kDataType<T>) || (kIsHalf<T> && detail::accumulates_wider(op, kDataType<T>)))
        continue;
      const Fold fold = fold_kernel(op, kDataType<T>);
      EXPECT_EQ(fold.element_bytes, sizeof(T));
      const ReduceOp step = op == ReduceOp::mean ? ReduceOp::sum : op;
      std::vector<T> expected(69);
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = combined(step, value_at<T>(0, i), value_at<T>(1, i));
      for (std::size_t offset = 0; offset < 64; ++offset) {
        SCOPED_TRACE(case_text(69, kDataType<T>, op) + ", offset " + std::to_string(offset));
        Unaligned<T> into(values_of<T>(0, 69), offset);
        Unaligned<T> incoming(values_of<T>(1, 69), (offset * 7 + 5) % 64);
        fold.function(into.data(), incoming.data(), 69 * sizeof(T));
        EXPECT_TRUE(same_bits(expected, into.values()));
        EXPECT_TRUE(same_bits(values_of<T>(1, 69), incoming.values()));
      }
    }
  });
}

TEST(FoldKernel, TakesNothingFromNowhere) {
  for_each_type(AllTypes{}, []<class T>() {
    for (const ReduceOp op : kAllReductions) {
      const Fold fold = fold_kernel(op, kDataType<T>);
      if (fold.function != nullptr) fold.function(nullptr, nullptr, 0);
    }
  });
}

template <class T>
T tree_of_values(ReduceOp op, const std::vector<T>& values) {
  std::vector<const std::byte*> pointers;
  for (const T& value : values) pointers.push_back(std::as_bytes(std::span(&value, 1)).data());
  T out{};
  tree_kernel(op, kDataType<T>)(std::as_writable_bytes(std::span(&out, 1)).data(), pointers, 1);
  return out;
}

template <class T>
T fold_of_values(ReduceOp op, T into, T incoming) {
  fold_kernel(op, kDataType<T>)
      .function(std::as_writable_bytes(std::span(&into, 1)).data(), std::as_bytes(std::span(&incoming, 1)).data(),
                sizeof(T));
  return into;
}

TEST(IntegerReductions, WrapWithoutUndefinedBehaviour) {
  EXPECT_EQ(tree_of_values<std::int8_t>(ReduceOp::sum, {120, 100}), -36);
  EXPECT_EQ(tree_of_values<std::uint8_t>(ReduceOp::sum, {200, 100}), 44);
  EXPECT_EQ(tree_of_values<std::int32_t>(ReduceOp::sum, {2147483647, 1}), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(tree_of_values<std::int64_t>(ReduceOp::sum, {std::numeric_limits<std::int64_t>::max(), 1}),
            std::numeric_limits<std::int64_t>::min());
  // 65535 * 65535 = 2^32 - 131071: beyond int, to which u16 is promoted.
  EXPECT_EQ(tree_of_values<std::uint16_t>(ReduceOp::prod, {65535, 65535}), 1);
  EXPECT_EQ(fold_of_values<std::uint16_t>(ReduceOp::prod, 65535, 65535), 1);
  EXPECT_EQ(tree_of_values<std::int16_t>(ReduceOp::prod, {-32768, -32768}), 0);
  EXPECT_EQ(tree_of_values<std::int32_t>(ReduceOp::prod, {65536, 65536}), 0);
  EXPECT_EQ(fold_of_values<std::int64_t>(ReduceOp::prod, std::numeric_limits<std::int64_t>::min(), -1),
            std::numeric_limits<std::int64_t>::min());
}

TEST(IntegerMean, IsExactAndRoundedTowardZero) {
  EXPECT_EQ(tree_of_values<std::int32_t>(ReduceOp::mean, {7, 7, 7}), 7);
  EXPECT_EQ(tree_of_values<std::int32_t>(ReduceOp::mean, {1, 2, 4}), 2);
  EXPECT_EQ(tree_of_values<std::int32_t>(ReduceOp::mean, {-1, -2, -4}), -2);
  EXPECT_EQ(tree_of_values<std::int32_t>(ReduceOp::mean, {-1, 0, 0}), 0);
  EXPECT_EQ(tree_of_values<std::int32_t>(ReduceOp::mean, {2147483647, 2147483647}), 2147483647);
  EXPECT_EQ(tree_of_values<std::int8_t>(ReduceOp::mean, {120, 100}), 110);
  EXPECT_EQ(tree_of_values<std::uint8_t>(ReduceOp::mean, {255, 255, 254}), 254);
  EXPECT_EQ(tree_of_values<std::uint32_t>(ReduceOp::mean, {4294967295, 4294967295}), 4294967295);
  const auto least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(tree_of_values<std::int64_t>(ReduceOp::mean, {least, least, least}), least);
  const auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(tree_of_values<std::uint64_t>(ReduceOp::mean, {most, most, most - 3}), most - 1);
}

TEST(FoldKernel, IsNoneForWhatWouldBeRoundedAtEveryFold) {
  for (const DataType type : {DataType::bf16, DataType::f16})
    for (const ReduceOp op : kAllReductions)
      EXPECT_EQ(fold_kernel(op, type).function != nullptr, op == ReduceOp::min || op == ReduceOp::max) << name(op);
}

TEST(HalfSums, AreFormedInF32AndRoundedOnce) {
  const auto sum_of = []<class T>(T /*type*/, ReduceOp op, const std::vector<float>& values) {
    std::vector<T> halves;
    for (const float value : values) halves.push_back(nearest<T>(value));
    return wide(tree_of_values<T>(op, halves));
  };
  // By rounded steps 256 + 1 is 256 in bf16, and 2048 + 1 is 2048 in f16. 259 and 2051 are ties; 260 and 2052 are even.
  EXPECT_EQ(sum_of(bf16(), ReduceOp::sum, {256, 1, 1, 1}), 260.0F);
  EXPECT_EQ(sum_of(f16(), ReduceOp::sum, {2048, 1, 1, 1}), 2052.0F);
  // Ranks 0 and 2 alone give what is infinite in f16: rounded there, the results were NaN.
  EXPECT_EQ(sum_of(f16(), ReduceOp::sum, {65504, -65504, 65504, -65504}), 0.0F);
  EXPECT_EQ(sum_of(f16(), ReduceOp::prod, {60000, 0, 1000, 0.5F}), 0.0F);
  EXPECT_EQ(sum_of(f16(), ReduceOp::mean, {65504, 65504, 65504}), 65504.0F);
  EXPECT_EQ(sum_of(bf16(), ReduceOp::mean, {256, 1, 1, 1, 1}), 52.0F);  // 260 / 5
  EXPECT_EQ(sum_of(f16(), ReduceOp::sum, {65504, 65504}), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(sum_of(
      bf16(), ReduceOp::sum, {1, std::numeric_limits<float>::infinity(), 2, -std::numeric_limits<float>::infinity()})));
}

/// T of each float, without the conversions under test.
template <class T>
T extreme(ReduceOp op, std::uint16_t left, std::uint16_t right) {
  const T folded = fold_of_values<T>(op, T::from_bits(left), T::from_bits(right));
  EXPECT_EQ(folded.bits(), tree_of_values<T>(op, {T::from_bits(left), T::from_bits(right)}).bits());
  return folded;
}

template <class T>
void expect_half_extremes() {
  // Every 97th pattern against every 89th.
  for (std::uint32_t left = 0; left < 0x1'0000; left += 97) {
    for (std::uint32_t right = 0; right < 0x1'0000; right += 89) {
      const auto l = static_cast<std::uint16_t>(left);
      const auto r = static_cast<std::uint16_t>(right);
      const double a = value_of_bits<T>(l);
      const double b = value_of_bits<T>(r);
      std::uint16_t least = l;
      std::uint16_t most = l;
      if (!std::isnan(a) && (std::isnan(b) || b < a || (a == b && std::signbit(b)))) least = r;
      if (!std::isnan(a) && (std::isnan(b) || b > a || (a == b && !std::signbit(b)))) most = r;
      ASSERT_EQ(extreme<T>(ReduceOp::min, l, r).bits(), least) << l << ' ' << r;
      ASSERT_EQ(extreme<T>(ReduceOp::max, l, r).bits(), most) << l << ' ' << r;
    }
  }
}

TEST(HalfExtremes, NanWinsOverEverythingAndMinusZeroIsBelowZero) {
  expect_half_extremes<bf16>();
  expect_half_extremes<f16>();
  EXPECT_EQ(extreme<f16>(ReduceOp::min, 0x0000, 0x8000).bits(), 0x8000);
  EXPECT_EQ(extreme<f16>(ReduceOp::max, 0x8000, 0x0000).bits(), 0x0000);
  EXPECT_EQ(extreme<bf16>(ReduceOp::max, 0x7f80, 0x7f81).bits(),
            0x7f81);  // Infinity and a NaN, which is kept as it is.
}

TEST(BoolReductions, AreAndOrAndExclusiveOr) {
  const std::array<std::uint8_t, 4> left{0, 0, 1, 1};
  const std::array<std::uint8_t, 4> right{0, 1, 0, 1};
  const std::map<ReduceOp, std::array<std::uint8_t, 4>> expected{{ReduceOp::min, {0, 0, 0, 1}},
                                                                 {ReduceOp::band, {0, 0, 0, 1}},
                                                                 {ReduceOp::max, {0, 1, 1, 1}},
                                                                 {ReduceOp::bor, {0, 1, 1, 1}},
                                                                 {ReduceOp::bxor, {0, 1, 1, 0}}};
  for (const auto& [op, result] : expected) {
    std::array<std::uint8_t, 4> out{};
    const std::array operands{std::as_bytes(std::span(left)).data(), std::as_bytes(std::span(right)).data()};
    tree_kernel(op, DataType::boolean)(std::as_writable_bytes(std::span(out)).data(), operands, 4);
    EXPECT_EQ(out, result) << name(op);
    out = left;
    fold_kernel(op, DataType::boolean).function(std::as_writable_bytes(std::span(out)).data(), operands[1], 4);
    EXPECT_EQ(out, result) << name(op);
  }
}

template <class T>
void expect_extremes_of(T nan) {
  const T infinity = std::numeric_limits<T>::infinity();
  for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
    for (const T other : {T{1}, T{-1}, T{0}, infinity, -infinity, nan}) {
      EXPECT_TRUE(std::isnan(fold_of_values<T>(op, nan, other))) << other;
      EXPECT_TRUE(std::isnan(fold_of_values<T>(op, other, nan))) << other;
      EXPECT_TRUE(std::isnan(tree_of_values<T>(op, {other, other, nan, other, other})));
    }
    for (const bool zero_first : {false, true}) {
      const T chosen = fold_of_values<T>(op, zero_first ? T{0} : -T{0}, zero_first ? -T{0} : T{0});
      EXPECT_EQ(chosen, T{0});
      EXPECT_EQ(std::signbit(chosen), op == ReduceOp::min) << "-0 is below +0";
    }
  }
  EXPECT_EQ(fold_of_values<T>(ReduceOp::min, -infinity, T{3}), -infinity);
  EXPECT_EQ(fold_of_values<T>(ReduceOp::max, -infinity, T{3}), T{3});
  EXPECT_EQ(fold_of_values<T>(ReduceOp::max, T{-2}, T{-3}), T{-2});
  EXPECT_EQ(fold_of_values<T>(ReduceOp::min, T{-2}, T{-3}), T{-3});
  EXPECT_EQ(fold_of_values<T>(ReduceOp::min, std::numeric_limits<T>::denorm_min(), T{0}), T{0});
}

TEST(FloatingExtremes, NanWinsOverEverythingAndMinusZeroIsBelowZero) {
  expect_extremes_of(std::numeric_limits<float>::quiet_NaN());
  expect_extremes_of(-std::numeric_limits<float>::quiet_NaN());
  expect_extremes_of(std::numeric_limits<double>::quiet_NaN());
  expect_extremes_of(-std::numeric_limits<double>::quiet_NaN());
}

TEST(Reductions, OfBitsAreForIntegersOnly) {
  for_each_type(AllTypes{}, []<class T>() {
    for (const ReduceOp op : kAllReductions) {
      const bool of_bits = op == ReduceOp::band || op == ReduceOp::bor || op == ReduceOp::bxor;
      EXPECT_EQ(detail::is_defined(op, kDataType<T>), std::is_integral_v<T> || !of_bits);
    }
  });
  for (const ReduceOp op : kAllReductions) EXPECT_FALSE(detail::is_defined(op, DataType::byte));
}

TEST(Reductions, OfBoolAreThoseThatGiveABool) {
  for (const ReduceOp op : kAllReductions) {
    const bool adds = op == ReduceOp::sum || op == ReduceOp::mean || op == ReduceOp::prod;
    EXPECT_EQ(detail::is_defined(op, DataType::boolean), !adds) << name(op);
  }
}

TEST(TreeDistance, IsTheLargestPowerOfTwoBelow) {
  const std::array<int, 18> expected{0, 0, 1, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 16};
  for (int ranks = 1; ranks <= 17; ++ranks)
    EXPECT_EQ(detail::tree_distance(ranks), expected[static_cast<std::size_t>(ranks)]) << ranks;
}

}  // namespace
}  // namespace shoal::test

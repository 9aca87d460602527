// The kernels on every instruction set that this processor has, one after the other: the same bits as a plain serial
// loop, and no byte touched that is not theirs.

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstring>
#include <deque>

#include "collective_checks.h"
#include "guarded_memory.h"
#include "kernel_table.h"

namespace shoal::test {
namespace {

using detail::best_kernel;

using ReducedTypes = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                           std::uint32_t, std::uint64_t, float, double, bf16, f16, bool>;

/// AVX-512, AVX2 and the baseline, as far as they are here.
std::vector<std::int64_t> targets() {
  const std::int64_t supported = hwy::SupportedTargets();
  std::vector<std::int64_t> all{HWY_SCALAR};
  for (const std::int64_t target : {HWY_AVX2, HWY_AVX3})
    if ((supported & target) != 0) all.push_back(target);
  return all;
}

/// While it lives, kernels are chosen as on a processor that has this target alone.
class OnTarget {
 public:
  explicit OnTarget(std::int64_t target) : trace_(__FILE__, __LINE__, hwy::TargetName(target)) { choose(target); }
  ~OnTarget() { choose(0); }
  OnTarget(const OnTarget&) = delete;
  OnTarget& operator=(const OnTarget&) = delete;

 private:
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  testing::ScopedTrace trace_;
};

constexpr int kMostOperands = 20;

template <class T>
class Operands {
 public:
  explicit Operands(std::size_t most) : out_(bytes_of(most) + kMargin) {
    for (int rank = 0; rank < kMostOperands; ++rank) {
      memory_.emplace_back(bytes_of(most) + kMargin);
      values_.push_back(std::make_unique<T[]>(most));
      for (std::size_t i = 0; i < most; ++i) values_.back()[i] = value_at<T>(rank, i);
    }
  }

  /// The reduction of the first `count` elements of so many operands, everything touching the end of its memory, or
  /// `gap` bytes before it; rank r's r bytes more, where there is a gap.
  void expect(ReduceOp op, std::size_t ranks, std::size_t count, std::size_t gap, std::span<const T> expected) {
    std::vector<const std::byte*> operands;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto at = memory_[rank].last(bytes_of(count), gap == 0 ? 0 : gap + rank);
      if (count > 0) std::memcpy(at.data(), values_[rank].get(), at.size());
      operands.push_back(at.data());
    }
    std::ranges::fill(out_.all().last(bytes_of(count) + kMargin), std::byte{0x5a});
    const auto result = out_.last(bytes_of(count), gap);
    best_kernel(op, kDataType<T>).tree(result.data(), operands, count);
    ASSERT_EQ(std::memcmp(result.data(), expected.data(), result.size()), 0)
        << case_text(count, kDataType<T>, op) << ", " << ranks << " operands, gap " << gap;
    const auto untouched = [](std::byte byte) { return byte == std::byte{0x5a}; };
    EXPECT_TRUE(std::ranges::all_of(out_.last(kMargin - gap, gap + result.size()), untouched));
    EXPECT_TRUE(std::ranges::all_of(out_.last(gap), untouched));
  }

 private:
  static constexpr std::size_t kMargin = 64;
  static std::size_t bytes_of(std::size_t count) { return count * sizeof(T); }

  GuardedMemory out_;
  std::deque<GuardedMemory> memory_;
  std::vector<std::unique_ptr<T[]>> values_;
};

template <class T>
std::unique_ptr<T[]> expected_of(ReduceOp op, std::size_t ranks, std::size_t count) {
  auto expected = std::make_unique<T[]>(count);
  reduce_serially(Algorithm::automatic, op, static_cast<int>(ranks), std::span(expected.get(), count), value_at<T>);
  return expected;
}

TEST(EveryTarget, GivesTheSerialBitsOfAnyCountAndTouchesNoByteBeyond) {
  constexpr std::size_t kMost = 130;
  for_each_type(ReducedTypes{}, []<class T>() {
    Operands<T> operands(kMost);
    for (const ReduceOp op : kAllReductions) {
      if (!detail::is_defined(op, kDataType<T>)) continue;
      for (const std::size_t ranks : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U}) {
        const auto expected = expected_of<T>(op, ranks, kMost);
        for (const std::int64_t target : targets()) {
          const OnTarget on_target(target);
          for (std::size_t count = 0; count <= kMost; ++count) {
            operands.expect(op, ranks, count, 0, {expected.get(), count});
            operands.expect(op, ranks, count, 1, {expected.get(), count});
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  });
}

TEST(EveryTarget, GivesTheSerialBitsOfManyElementsAtEveryAlignment) {
  constexpr std::size_t kMost = 4099;  // Beyond a tile, which has at most 2,048.
  for_each_type(ReducedTypes{}, []<class T>() {
    Operands<T> operands(kMost);
    for (const ReduceOp op : kAllReductions) {
      if (!detail::is_defined(op, kDataType<T>)) continue;
      for (const std::size_t ranks : {2U, 3U, 8U, 9U, 17U, 20U}) {
        const auto expected = expected_of<T>(op, ranks, kMost);
        for (const std::int64_t target : targets()) {
          const OnTarget on_target(target);
          for (const std::size_t gap : {0U, 1U, 2U, 4U, 7U, 8U, 16U, 31U, 32U, 40U}) {
            operands.expect(op, ranks, kMost, gap, {expected.get(), kMost});
            operands.expect(op, ranks, kMost - gap, gap, {expected.get(), kMost - gap});
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  });
}

TEST(EveryTarget, FoldsInPlaceAndTouchesNoByteBeyond) {
  constexpr std::size_t kMost = 300;
  for_each_type(ReducedTypes{}, []<class T>() {
    const GuardedMemory left(kMost * sizeof(T));
    const GuardedMemory right(kMost * sizeof(T));
    const auto write = [](std::span<std::byte> at, int rank) {
      for (std::size_t i = 0; i < at.size() / sizeof(T); ++i) {
        const T value = value_at<T>(rank, i);
        std::memcpy(at.data() + i * sizeof(T), &value, sizeof(T));
      }
    };
    for (const ReduceOp op : kAllReductions) {
      if (best_kernel(op, kDataType<T>).fold == nullptr) continue;
      const auto expected = expected_of<T>(op == ReduceOp::mean ? ReduceOp::sum : op, 2, kMost);
      for (const std::int64_t target : targets()) {
        const OnTarget on_target(target);
        for (std::size_t count = 0; count <= kMost; ++count) {
          const auto into = left.last(count * sizeof(T));
          const auto incoming = right.last(count * sizeof(T));
          write(into, 0);
          write(incoming, 1);
          best_kernel(op, kDataType<T>).fold(into.data(), incoming.data(), into.size());
          ASSERT_EQ(std::memcmp(into.data(), expected.get(), into.size()), 0) << case_text(count, kDataType<T>, op);
        }
      }
    }
  });
}

TEST(EveryTarget, MayWriteOverAnyOperand) {
  constexpr std::size_t kCount = 1031;
  for_each_type(ReducedTypes{}, []<class T>() {
    for (const ReduceOp op : kAllReductions) {
      if (!detail::is_defined(op, kDataType<T>)) continue;
      for (const std::size_t ranks : {2U, 7U, 8U, 11U}) {
        const auto expected = expected_of<T>(op, ranks, kCount);
        for (const std::int64_t target : targets()) {
          const OnTarget on_target(target);
          for (std::size_t over = 0; over < ranks; ++over) {
            std::vector<std::unique_ptr<T[]>> values;
            std::vector<const std::byte*> operands;
            for (std::size_t rank = 0; rank < ranks; ++rank) {
              values.push_back(std::make_unique<T[]>(kCount));
              for (std::size_t i = 0; i < kCount; ++i) values[rank][i] = value_at<T>(static_cast<int>(rank), i);
              operands.push_back(std::as_bytes(std::span(values[rank].get(), kCount)).data());
            }
            const auto out = std::as_writable_bytes(std::span(values[over].get(), kCount));
            best_kernel(op, kDataType<T>).tree(out.data(), operands, kCount);
            ASSERT_EQ(std::memcmp(out.data(), expected.get(), out.size()), 0)
                << case_text(kCount, kDataType<T>, op) << ", " << ranks << " operands, over " << over;
          }
        }
      }
    }
  });
}

/// What two operands of these bits give, by the plain loops for the baseline and by each other target.
template <class Bits>
void expect_same_on_all(ReduceOp op, DataType type, const std::vector<Bits>& left, const std::vector<Bits>& right) {
  const std::array operands{std::as_bytes(std::span(left)).data(), std::as_bytes(std::span(right)).data()};
  std::vector<std::vector<Bits>> results;
  for (const std::int64_t target : targets()) {
    const OnTarget on_target(target);
    std::vector<Bits> result(left.size());
    best_kernel(op, type).tree(std::as_writable_bytes(std::span(result)).data(), operands, result.size());
    results.push_back(std::move(result));
    ASSERT_EQ(results.front(), results.back()) << name(type) << ' ' << name(op);
  }
}

TEST(EveryTarget, ConvertsEveryHalfAlike) {
  std::vector<std::uint16_t> all(0x1'0000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  const std::vector<std::uint16_t> zeros(all.size());
  for (const DataType type : {DataType::bf16, DataType::f16}) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::min, ReduceOp::max})
      expect_same_on_all(op, type, all, zeros);
    // Products of every number, NaNs and infinities too, that end on, above and below ties, and beyond both ends.
    for (const float factor : {1.0F, 1.5F, 1.25F, 0.75F, 1.0F / 3, 1.0F / 1024, 0x1p-15F, 0x1p-24F, 1000.0F, -7.0F}) {
      const std::uint16_t bits = type == DataType::bf16 ? bf16(factor).bits() : f16(factor).bits();
      expect_same_on_all(ReduceOp::prod, type, all, std::vector<std::uint16_t>(all.size(), bits));
      expect_same_on_all(ReduceOp::sum, type, all, std::vector<std::uint16_t>(all.size(), bits));
    }
  }
}

TEST(EveryTarget, TakesMinimaAndMaximaOfAnyBitsAlike) {
  const auto drawn = []<class Bits>(Bits /*kind*/, std::uint64_t from) {
    std::vector<Bits> bits;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      // Every other one with its exponent all ones or all zeros: NaN, infinity, subnormal, zero.
      const auto random = static_cast<Bits>(mixed_bits(from + i));
      constexpr int kFraction = sizeof(Bits) == 4 ? 23 : sizeof(Bits) == 8 ? 52 : 7;
      constexpr auto kExponent = static_cast<Bits>((static_cast<Bits>(~Bits{0}) >> 1) >> kFraction << kFraction);
      const auto sparse = static_cast<Bits>(random & ~kExponent & (i % 3 == 0 ? ~kExponent >> 1 << 1 : ~Bits{0}));
      bits.push_back(i % 4 == 0 ? static_cast<Bits>(sparse | kExponent) : i % 4 == 1 ? sparse : random);
      if (i % 5 == 0) bits.back() = static_cast<Bits>(bits.back() & ~((Bits{1} << kFraction) - 1));
    }
    return bits;
  };
  for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
    expect_same_on_all(op, DataType::f32, drawn(std::uint32_t{}, 0), drawn(std::uint32_t{}, 1U << 20));
    expect_same_on_all(op, DataType::f64, drawn(std::uint64_t{}, 0), drawn(std::uint64_t{}, 1U << 20));
    expect_same_on_all(op, DataType::bf16, drawn(std::uint16_t{}, 0), drawn(std::uint16_t{}, 1U << 20));
    expect_same_on_all(op, DataType::f16, drawn(std::uint16_t{}, 0), drawn(std::uint16_t{}, 1U << 20));
  }
}

TEST(EveryTarget, IsAnotherSetOfKernels) {
  std::vector<detail::TreeKernel> kernels;
  for (const std::int64_t target : targets()) {
    const OnTarget on_target(target);
    const auto kernel = best_kernel(ReduceOp::sum, DataType::f32).tree;
    EXPECT_EQ(std::ranges::find(kernels, kernel), kernels.end());
    kernels.push_back(kernel);
  }
  EXPECT_EQ(detail::tree_kernel(ReduceOp::sum, DataType::f32), kernels.back()) << "the widest by default";
}

/// Every operand NaN, quiet, each of another payload.
template <class T, class Bits>
void expect_alignment_chooses_no_nan(ReduceOp op, Bits quiet_nan) {
  constexpr std::size_t kMost = 150;
  std::vector<std::vector<Bits>> values;
  std::vector<const std::byte*> all;
  for (std::size_t rank = 0; rank < 9; ++rank) {
    values.emplace_back(kMost, static_cast<Bits>(quiet_nan + 1 + rank));
    all.push_back(std::as_bytes(std::span(values.back())).data());
  }
  const GuardedMemory memory(kMost * sizeof(Bits) + 64);
  for (std::size_t ranks = 2; ranks <= all.size(); ++ranks) {
    for (std::size_t count = 1; count <= kMost; ++count) {
      const auto at_offset = [&](std::size_t offset) {
        const auto out = memory.first(count * sizeof(Bits), offset);
        best_kernel(op, kDataType<T>).tree(out.data(), std::span(all).first(ranks), count);
        return out;
      };
      const auto aligned = at_offset(0);
      const std::vector<std::byte> expected(aligned.begin(), aligned.end());
      for (std::size_t offset = 1; offset < 64; ++offset)
        ASSERT_TRUE(std::ranges::equal(at_offset(offset), expected))
            << case_text(count, kDataType<T>, op) << ", " << ranks << " operands, offset " << offset;
    }
  }
}

// Which of two NaNs a sum keeps is the compiler's and the processor's choice, but ranks whose buffers lie differently
// must not differ in it.
TEST(EveryTarget, KeepsTheSameOfTwoNansAtEveryAlignment) {
  for (const std::int64_t target : targets()) {
    const OnTarget on_target(target);
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::mean}) {
      expect_alignment_chooses_no_nan<float>(op, std::uint32_t{0x7fc0'0000});
      expect_alignment_chooses_no_nan<double>(op, std::uint64_t{0x7ff8'0000'0000'0000});
      expect_alignment_chooses_no_nan<bf16>(op, std::uint16_t{0x7fc0});
      expect_alignment_chooses_no_nan<f16>(op, std::uint16_t{0x7e00});
    }
  }
}

TEST(EveryTarget, DividesAMeanOfIntegersExactlyAtItsLimits) {
  // Around multiples of the divisor, and at both ends of the type.
  for (const int ranks : {3, 7, 10, 1000}) {
    std::vector<std::uint32_t> first{0, 1, 2, 3, 6, 7, 8, 0xffff'fffe, 0xffff'ffff, 0x8000'0000, 0x7fff'ffff, 20, 21};
    const std::vector<std::uint32_t> most(first.size(), 0xffff'ffff);
    std::vector<std::uint32_t> expected;
    for (const std::uint32_t value : first) {
      const std::uint64_t sum = value + std::uint64_t{0xffff'ffff} * static_cast<std::uint64_t>(ranks - 1);
      expected.push_back(static_cast<std::uint32_t>(sum / static_cast<std::uint64_t>(ranks)));
    }
    std::vector<const std::byte*> operands(static_cast<std::size_t>(ranks), std::as_bytes(std::span(most)).data());
    operands[0] = std::as_bytes(std::span(first)).data();
    for (const std::int64_t target : targets()) {
      const OnTarget on_target(target);
      std::vector<std::uint32_t> out(first.size());
      best_kernel(ReduceOp::mean, DataType::u32)
          .tree(std::as_writable_bytes(std::span(out)).data(), operands, out.size());
      EXPECT_EQ(out, expected) << ranks;
    }
  }
}

TEST(EveryTarget, DividesAMeanOfMoreIntegersThanADoubleCountsExactly) {
  // 2^22 + 1 operands, all but one of them -2^31: the mean is -2147483647.99.., toward zero -2147483647.
  constexpr std::size_t kOperands = (std::size_t{1} << 22) + 1;
  const std::int32_t least = std::numeric_limits<std::int32_t>::min();
  const std::int32_t next = least + 1;
  std::vector<const std::byte*> operands(kOperands, std::as_bytes(std::span(&least, 1)).data());
  operands[1] = std::as_bytes(std::span(&next, 1)).data();
  for (const std::int64_t target : targets()) {
    const OnTarget on_target(target);
    std::int32_t out = 0;
    best_kernel(ReduceOp::mean, DataType::i32).tree(std::as_writable_bytes(std::span(&out, 1)).data(), operands, 1);
    EXPECT_EQ(out, -2147483647);
  }
}

}  // namespace
}  // namespace shoal::test

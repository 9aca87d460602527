#include "shoal/collectives/float16.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "support/half_reference.h"

namespace shoal::test {
namespace {

template <class T>
class Float16Test : public testing::Test {};
struct TypeNames {
  template <class T>
  static std::string GetName(int /*index*/) {
    return std::same_as<T, bf16> ? "bf16" : "f16";
  }
};
using Halves = testing::Types<bf16, f16>;
TYPED_TEST_SUITE(Float16Test, Halves, TypeNames);

static_assert(sizeof(bf16) == 2 && sizeof(f16) == 2 && alignof(bf16) == 2 && alignof(f16) == 2);
static_assert(std::is_trivially_copyable_v<bf16> && std::is_trivially_copyable_v<f16>);
static_assert(!std::is_convertible_v<float, bf16> && !std::is_convertible_v<bf16, float>, "conversions are explicit");
static_assert(!std::is_convertible_v<f16, bf16> && !std::is_same_v<f16, bf16>);
// At compile time, too.
static_assert(bf16(1.0F).bits() == 0x3f80 && f16(1.0F).bits() == 0x3c00);
static_assert(static_cast<float>(bf16(-2.5F)) == -2.5F && static_cast<float>(f16(-2.5F)) == -2.5F);
static_assert(bf16() == bf16(0.0F) && f16() == f16(-0.0F) && f16(1.0F) < f16(2.0F));

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

/// Counts mismatches over many cases, and tells the first.
class Mismatches {
 public:
  void expect(std::uint32_t expected, std::uint32_t actual, std::uint32_t from) {
    if (expected != actual && count_++ == 0)
      first_ = testing::PrintToString(from) + " gives " + testing::PrintToString(actual) + ", not " +
               testing::PrintToString(expected);
  }
  ~Mismatches() { EXPECT_EQ(count_, 0U) << "the first, in bits: " << first_; }
  Mismatches() = default;
  Mismatches(const Mismatches&) = delete;
  Mismatches& operator=(const Mismatches&) = delete;

 private:
  std::size_t count_ = 0;
  std::string first_;
};

TYPED_TEST(Float16Test, EveryPatternBecomesTheFloatThatItStandsForAndComesBack) {
  Mismatches wide_bits;
  Mismatches back;
  const int quiet = 1 << (kFractionBits<TypeParam> - 1);
  for (std::uint32_t bits = 0; bits < 0x1'0000; ++bits) {
    const auto half = TypeParam::from_bits(static_cast<std::uint16_t>(bits));
    const auto value = static_cast<float>(half);
    const double expected = value_of_bits<TypeParam>(half.bits());
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_EQ(std::signbit(value), bits >= 0x8000) << bits;
      back.expect(bits | static_cast<std::uint32_t>(quiet), TypeParam(value).bits(), bits);
    } else {
      wide_bits.expect(bits_of(static_cast<float>(expected)), bits_of(value), bits);
      back.expect(bits, TypeParam(value).bits(), bits);
    }
  }
}

/// Checks the rounding of `value` and of its neighbours, and of all their negatives.
template <class T>
void expect_nearest_around(float value, Mismatches& mismatches) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float near : {value, std::nextafter(value, infinity), std::nextafter(value, 0.0F)})
    for (const float number : {near, -near})
      mismatches.expect(nearest<T>(number).bits(), T(number).bits(), bits_of(number));
}

TYPED_TEST(Float16Test, FloatsOnAndAroundEveryValueAndEveryTieRoundToTheNearestOrTheEven) {
  Mismatches mismatches;
  const auto& values = magnitudes<TypeParam>();
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    expect_nearest_around<TypeParam>(static_cast<float>(values[i]), mismatches);
    const double tie = (values[i] + values[i + 1]) / 2;
    ASSERT_EQ(tie, static_cast<double>(static_cast<float>(tie)));  // Two bits of fraction more than the half has.
    expect_nearest_around<TypeParam>(static_cast<float>(tie), mismatches);
  }
  for (const float large :
       {65504.0F, 65520.0F, 65536.0F, std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()})
    expect_nearest_around<TypeParam>(large, mismatches);
  expect_nearest_around<TypeParam>(std::numeric_limits<float>::denorm_min(), mismatches);
  expect_nearest_around<TypeParam>(std::numeric_limits<float>::min(), mismatches);
}

TYPED_TEST(Float16Test, FloatsOfTheWholeRangeRoundToTheNearest) {
  Mismatches mismatches;
  constexpr std::uint64_t kStride = 4099;  // A prime: all low bits come up with all exponents.
  for (std::uint64_t bits = 1; bits < std::uint64_t{1} << 32; bits += kStride) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(value))
      mismatches.expect(nearest<TypeParam>(value).bits(), TypeParam(value).bits(), bits_of(value));
  }
}

TYPED_TEST(Float16Test, NanStaysNanQuietWithItsSignAndItsUpperBits) {
  const int kept = 22 - kFractionBits<TypeParam>;  // Bits of an f32's fraction that are lost, but the quiet one.
  for (std::uint32_t payload = 1; payload < 1U << 23; payload = payload * 3 + 1) {
    for (const std::uint32_t sign : {0U, 0x8000'0000U}) {
      const auto half = TypeParam(std::bit_cast<float>(sign | 0x7f80'0000 | payload));
      const auto fraction = half.bits() & ((1U << kFractionBits<TypeParam>)-1);
      EXPECT_TRUE(std::isnan(value_of_bits<TypeParam>(half.bits()))) << payload;
      EXPECT_EQ(fraction, (payload >> (kept + 1)) | 1U << (kFractionBits<TypeParam> - 1)) << payload;
      EXPECT_EQ(half.bits() >= 0x8000, sign != 0);
    }
  }
}

TEST(Bfloat16, RoundsToEightSignificantBits) {
  EXPECT_EQ(static_cast<float>(bf16(257.0F)), 256.0F);  // A tie between 256 and 258: 256 is even.
  EXPECT_EQ(static_cast<float>(bf16(259.0F)), 260.0F);
  EXPECT_EQ(static_cast<float>(bf16(257.5F)), 258.0F);
  EXPECT_EQ(bf16(3.4e38F).bits(), 0x7f80);  // Beyond the greatest, 3.3895e38, by more than half a last place.
}

TEST(Binary16, RoundsToElevenSignificantBitsAndEndsAt65504) {
  EXPECT_EQ(static_cast<float>(f16(2049.0F)), 2048.0F);
  EXPECT_EQ(static_cast<float>(f16(2051.0F)), 2052.0F);
  EXPECT_EQ(static_cast<float>(f16(65519.0F)), 65504.0F);
  EXPECT_EQ(f16(65520.0F).bits(), 0x7c00);
  EXPECT_EQ(f16(std::ldexp(1.0F, -24)).bits(), 0x0001);
  EXPECT_EQ(f16(std::ldexp(1.0F, -25)).bits(), 0x0000);  // A tie between zero and the least.
  EXPECT_EQ(f16(std::ldexp(1.5F, -25)).bits(), 0x0001);
  EXPECT_EQ(f16(-std::ldexp(1.0F, -30)).bits(), 0x8000);
}

TYPED_TEST(Float16Test, ValuesCompareAsFloatsDo) {
  const TypeParam one(1.0F);
  const TypeParam two(2.0F);
  const TypeParam nan(std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(one < two && two > one && one <= one && one != two && one == TypeParam(1.0F));
  EXPECT_TRUE(TypeParam(-2.0F) < one);
  EXPECT_TRUE(TypeParam(0.0F) == TypeParam(-0.0F));
  EXPECT_FALSE(nan == nan);
  EXPECT_TRUE(nan != nan);
  EXPECT_FALSE(nan < one || nan > one || nan <= nan);
}

}  // namespace
}  // namespace shoal::test

// The square of an f32 is exact in f64: 48 of 53 bits. Scaled below 2^88 it is cut into two integers of 44 bits, and of
// each kind 2^19 add up below 2^63.

#include "train/exact_norm.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace shoal::train {
namespace {

constexpr std::int64_t kScaledBits = 88;
constexpr double kHalf = 0x1p44;
constexpr std::size_t kAtOnce = std::size_t{1} << 19U;
constexpr std::uint32_t kMagnitude = 0x7fffffffU;
constexpr std::uint32_t kInfinity = 0x7f800000U;

__extension__ using Wide = unsigned __int128;

Wide sum_of(std::span<const float> values, double scale) {
  std::int64_t high = 0;
  std::int64_t low = 0;
  for (const float value : values) {
    const double scaled = static_cast<double>(value) * static_cast<double>(value) * scale;
    const auto upper = static_cast<std::int64_t>(scaled * (1.0 / kHalf));
    high += upper;
    low += static_cast<std::int64_t>(scaled - static_cast<double>(upper) * kHalf);
  }
  return (static_cast<Wide>(high) << 44U) + static_cast<Wide>(low);
}

}  // namespace

std::int64_t squares_scale(std::span<const float> values) {
  // Without its sign an f32 compares as the integer that its bits are.
  std::uint32_t largest = 0;
  for (const float value : values) largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & kMagnitude);
  if (largest >= kInfinity) return kNotFinite;
  if (largest == 0) return -kNotFinite;
  return 2 * static_cast<std::int64_t>(std::ilogb(std::bit_cast<float>(largest)) + 1);
}

SumOfSquares scaled_squares(std::span<const float> values, std::int64_t scale) {
  if (scale == kNotFinite || scale == -kNotFinite) return {};
  const double factor = std::ldexp(1.0, static_cast<int>(kScaledBits - scale));
  Wide sum = 0;
  for (std::size_t first = 0; first < values.size(); first += kAtOnce)
    sum += sum_of(values.subspan(first, std::min(kAtOnce, values.size() - first)), factor);
  SumOfSquares digits{};
  for (std::uint64_t& digit : digits) {
    digit = static_cast<std::uint32_t>(sum);
    sum >>= 32U;
  }
  return digits;
}

double norm_of(const SumOfSquares& squares, std::int64_t scale) {
  if (scale == -kNotFinite) return 0.0;
  Wide sum = 0;
  for (std::size_t digit = squares.size(); digit-- > 0;) sum = (sum << 32U) + squares[digit];
  // An even scale: the root of its power of two is exact.
  return std::ldexp(std::sqrt(static_cast<double>(sum)), static_cast<int>((scale - kScaledBits) / 2));
}

}  // namespace shoal::train

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>

#include "shoal/collectives/float16.h"

// The 16-bit formats by their definition, with nothing of the code under test: a value is put together from its sign,
// exponent and fraction, and a number is rounded by looking it up among all values that there are.

namespace shoal::test {

template <class T>
inline constexpr bool kIsHalf = std::same_as<T, bf16> || std::same_as<T, f16>;

/// 1 bit of sign, then the exponent, then so many bits of fraction.
template <class T>
inline constexpr int kFractionBits = std::same_as<T, bf16> ? 7 : 10;
template <class T>
inline constexpr int kExponentBits = 15 - kFractionBits<T>;

template <class T>
double value_of_bits(std::uint16_t bits) {
  const int fraction = bits & ((1 << kFractionBits<T>)-1);
  const int exponent = (bits & 0x7fff) >> kFractionBits<T>;
  const int greatest = (1 << kExponentBits<T>)-1;
  const int bias = greatest / 2;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == greatest)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - kFractionBits<T>);
  return sign * std::ldexp((1 << kFractionBits<T>)+fraction, exponent - bias - kFractionBits<T>);
}

/// All magnitudes, ascending: index and bits are the same. The last stands for infinity, which rounding takes for the
/// number that would follow the greatest.
template <class T>
const std::vector<double>& magnitudes() {
  static const std::vector<double> all = [] {
    std::vector<double> values;
    const int infinity = ((1 << kExponentBits<T>)-1) << kFractionBits<T>;
    for (int bits = 0; bits < infinity; ++bits) values.push_back(value_of_bits<T>(static_cast<std::uint16_t>(bits)));
    values.push_back(std::ldexp(1.0, 1 << (kExponentBits<T> - 1)));
    return values;
  }();
  return all;
}

/// The nearest value; of two equally near, the one whose bits are even. Not for NaN.
template <class T>
T nearest(double number) {
  const auto& values = magnitudes<T>();
  const double magnitude = std::min(std::abs(number), values.back());
  const auto above = static_cast<std::size_t>(std::ranges::lower_bound(values, magnitude) - values.begin());
  std::size_t bits = above;
  if (values[above] != magnitude) {
    const double to_above = values[above] - magnitude;
    const double to_below = magnitude - values[above - 1];
    if (to_below < to_above || (to_below == to_above && above % 2 == 1)) bits = above - 1;
  }
  return T::from_bits(static_cast<std::uint16_t>(bits | (std::signbit(number) ? 0x8000U : 0U)));
}

template <class T>
float wide(T value) {
  return static_cast<float>(value_of_bits<T>(value.bits()));
}

}  // namespace shoal::test

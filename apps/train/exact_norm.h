#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace shoal::train {

/// The sum of squares of f32 values, without regard to their order or to how they are spread over ranks: every part
/// of it is an integer. In three steps, the first and second of which may be done part by part:
///
///     scale   = the largest of squares_scale(part)
///     squares = the sums, element by element, of scaled_squares(part, scale), over at most 65,536 parts
///     norm    = norm_of(squares, scale)
///
/// A square counts down to 2^-88 of the largest one's power of two; what lies below is cut off, alike in every part.

/// The power of two that all squares of these values are below; kNotFinite if one of them is NaN or infinite.
std::int64_t squares_scale(std::span<const float> values);
inline constexpr std::int64_t kNotFinite = 1 << 20;

/// The four 32-bit digits, lowest first, of the sum of squares in units of 2^(scale - 88). At most 2^40 values.
using SumOfSquares = std::array<std::uint64_t, 4>;
SumOfSquares scaled_squares(std::span<const float> values, std::int64_t scale);

/// The square root of a sum. 0 of nothing.
double norm_of(const SumOfSquares& squares, std::int64_t scale);

}  // namespace shoal::train

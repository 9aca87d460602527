#pragma once

#include <bit>
#include <compare>
#include <cstdint>

// Comes first because its DataType::bf16 and f16, read after the types of those names, would be reported as shadowing
// them (GCC's -Wshadow).
#include "shoal/runtime/operation.h"  // IWYU pragma: keep

// The two floating-point types of 16 bits, as values that can be stored, moved and reduced. Arithmetic is done in f32:
// they convert to it exactly, and back with one rounding.

namespace shoal {
namespace detail {

inline constexpr std::uint32_t kF32Sign = 0x8000'0000;
inline constexpr std::int32_t kF32Infinity = 0x7f80'0000;  // Magnitudes above it are NaNs.

// The conversions have no branches, and compare as signed integers, so that loops over them vectorise on any x86-64.
// None of their operands or results in f32 is subnormal unless it may as well be zero, so they hold also in a process
// that treats subnormals as zero.

/// `first ? one : other` without a branch, which GCC makes of ?: around floating-point operations.
template <class Integer>
constexpr Integer chosen(bool first, Integer one, Integer other) noexcept {
  return other ^ ((one ^ other) & (Integer{0} - static_cast<Integer>(first)));
}

/// Sign, 8 bits of exponent, 7 of fraction: the upper half of an f32.
struct Bfloat16Format {
  [[gnu::always_inline]] static constexpr float widened(std::uint16_t bits) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

  [[gnu::always_inline]] static constexpr std::uint16_t rounded(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto magnitude = static_cast<std::int32_t>(bits & ~kF32Sign);
    // Half of the last place, less one where the last place is even: a tie goes to the even neighbour. A carry out of
    // the fraction is the next exponent, and that of the greatest finite number is infinity.
    const std::uint32_t nearest = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const std::uint32_t quiet_nan = (bits >> 16) | 0x0040;
    return static_cast<std::uint16_t>(chosen(magnitude > kF32Infinity, quiet_nan, nearest));
  }
};

/// Sign, 5 bits of exponent, 10 of fraction: the binary16 of IEEE 754. The steps are Fabian Giesen's
/// (float_to_half_fast3_rtne and its inverse).
struct Binary16Format {
  [[gnu::always_inline]] static constexpr float widened(std::uint16_t bits) noexcept {
    const std::uint32_t sign = (bits & 0x8000U) << 16;
    const std::uint32_t magnitude = (bits & 0x7fffU) << 13;  // Exponent and fraction where an f32 has them.
    const std::uint32_t exponent = magnitude & 0x0f80'0000;
    const std::uint32_t normal = magnitude + (112U << 23);   // The biases are 15 and 127.
    const std::uint32_t special = magnitude + (224U << 23);  // 31, of infinities and NaNs, becomes 255.
    // 2^-14 (1 + fraction) less 2^-14.
    constexpr std::uint32_t kLeastNormal = 113U << 23;
    const auto subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude + kLeastNormal) -
                                                        std::bit_cast<float>(kLeastNormal));
    const std::uint32_t finite = chosen(exponent == 0, subnormal, normal);
    return std::bit_cast<float>(sign | chosen(exponent == 0x0f80'0000, special, finite));
  }

  [[gnu::always_inline]] static constexpr std::uint16_t rounded(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits & kF32Sign) >> 16;
    const auto magnitude = static_cast<std::int32_t>(bits & ~kF32Sign);
    constexpr std::int32_t kLeastNormal = 113 << 23;  // 2^-14
    constexpr std::int32_t kBeyond = 143 << 23;       // 2^16
    const std::int32_t nearest = (magnitude - (112 << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
    // Below 2^-14 the last place is 2^-24, as it is of 0.5 in f32: adding that rounds.
    constexpr float kHalf = 0.5F;
    const std::int32_t small = chosen(magnitude < kLeastNormal, magnitude, 0);
    const std::int32_t subnormal =
        std::bit_cast<std::int32_t>(std::bit_cast<float>(small) + kHalf) - std::bit_cast<std::int32_t>(kHalf);
    const std::int32_t quiet_nan = 0x7e00 | ((magnitude >> 13) & 0x3ff);
    const std::int32_t special = chosen(magnitude > kF32Infinity, quiet_nan, 0x7c00);
    const std::int32_t finite = chosen(magnitude < kLeastNormal, subnormal, nearest);
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(chosen(magnitude >= kBeyond, special, finite)));
  }
};

}  // namespace detail

/// A floating-point number of 16 bits, in one of two formats: shoal::bf16 or shoal::f16. To float it converts exactly.
/// From float it rounds to the nearest value, a tie to the one with an even last place: magnitudes from half a last
/// place beyond the greatest finite number on become infinity, tiny ones subnormal or zero of the same sign. NaN
/// stays NaN, quiet, of the same sign, with the upper bits of what it carries.
///
/// Values compare as floats do: NaN equals nothing, -0 equals +0. For arithmetic convert to float and back.
template <class Format>
class Float16 {
 public:
  /// +0.
  constexpr Float16() noexcept = default;
  constexpr explicit Float16(float value) noexcept : bits_(Format::rounded(value)) {}
  constexpr explicit operator float() const noexcept { return Format::widened(bits_); }

  /// The value with this representation, a signalling NaN too.
  static constexpr Float16 from_bits(std::uint16_t bits) noexcept {
    Float16 value;
    value.bits_ = bits;
    return value;
  }
  constexpr std::uint16_t bits() const noexcept { return bits_; }

  friend constexpr bool operator==(Float16 left, Float16 right) noexcept {
    return static_cast<float>(left) == static_cast<float>(right);
  }
  friend constexpr std::partial_ordering operator<=>(Float16 left, Float16 right) noexcept {
    return static_cast<float>(left) <=> static_cast<float>(right);
  }

 private:
  std::uint16_t bits_ = 0;
};

/// "Brain float": the range of float with 8 significant bits. 256 + 1 is 256.
using bf16 = Float16<detail::Bfloat16Format>;
/// IEEE 754 half precision: 11 significant bits, from 2^-24 to 65504. 2048 + 1 is 2048.
using f16 = Float16<detail::Binary16Format>;

}  // namespace shoal

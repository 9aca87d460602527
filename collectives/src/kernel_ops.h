#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "shoal/collectives/float16.h"

// One reduction of two values each. All are free of branches, so that loops over them vectorise, and of undefined
// behaviour: integers wrap.

namespace shoal::detail {

__extension__ using Wide128 = __int128;

/// The unsigned type in which a sum or product of T cannot overflow undefinedly: u16 * u16 would be promoted to int.
template <std::integral T>
using Wrapping = std::conditional_t<(sizeof(T) < sizeof(std::uint32_t)), std::uint32_t, std::make_unsigned_t<T>>;

struct Sum {
  template <class T>
  static T apply(T left, T right) noexcept {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(left) + static_cast<Wrapping<T>>(right));
    } else {
      return left + right;
    }
  }
};

struct Product {
  template <class T>
  static T apply(T left, T right) noexcept {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(left) * static_cast<Wrapping<T>>(right));
    } else {
      return left * right;
    }
  }
};

template <class T>
inline constexpr bool kIsHalf = std::same_as<T, bf16> || std::same_as<T, f16>;

/// Floating-point values seen as integers that compare in the same order, -0 below +0. NaNs lie outside of
/// the infinities, on both sides.
template <class T>
struct Ordered {
  using Integer = std::conditional_t<kIsHalf<T>, std::int16_t,
                                     std::conditional_t<std::same_as<T, float>, std::int32_t, std::int64_t>>;
  using Limits = std::numeric_limits<std::conditional_t<kIsHalf<T>, float, T>>;
  static constexpr Integer kMagnitude = std::numeric_limits<Integer>::max();
  static constexpr Integer kInfinity = std::bit_cast<Integer>(static_cast<T>(Limits::infinity()));

  static Integer key(Integer bits) noexcept { return static_cast<Integer>(bits < 0 ? bits ^ kMagnitude : bits); }
  static bool is_nan(Integer bits) noexcept { return (bits & kMagnitude) > kInfinity; }
};

/// Min and Max of floating-point values given by their bits: NaN wins over any number, the left NaN over the right.
template <class T, bool kTakeLess>
struct ExtremeOfBits {
  using Order = Ordered<T>;
  using Integer = typename Order::Integer;

  template <std::same_as<Integer> Bits>
  static Bits apply(Bits left, Bits right) noexcept {
    const bool right_wins = kTakeLess ? Order::key(right) < Order::key(left) : Order::key(left) < Order::key(right);
    const bool take_right = (right_wins | Order::is_nan(right)) & !Order::is_nan(left);
    return take_right ? right : left;
  }
};

template <bool kTakeLess>
struct Extreme {
  template <class T>
  static T apply(T left, T right) noexcept {
    if constexpr (std::integral<T>) {
      return (kTakeLess ? right < left : left < right) ? right : left;
    } else {
      using Integer = typename Ordered<T>::Integer;
      return std::bit_cast<T>(
          ExtremeOfBits<T, kTakeLess>::apply(std::bit_cast<Integer>(left), std::bit_cast<Integer>(right)));
    }
  }
};
using Min = Extreme<true>;
using Max = Extreme<false>;

struct BitAnd {
  template <std::integral T>
  static T apply(T left, T right) noexcept {
    return static_cast<T>(left & right);
  }
};

struct BitOr {
  template <std::integral T>
  static T apply(T left, T right) noexcept {
    return static_cast<T>(left | right);
  }
};

struct BitXor {
  template <std::integral T>
  static T apply(T left, T right) noexcept {
    return static_cast<T>(left ^ right);
  }
};

/// In what sums and products are formed, and rounded to the type once.
template <class T>
using Accumulator = std::conditional_t<kIsHalf<T>, float, T>;

/// In what the operands of a mean are summed: exact for integers, for any number of ranks that fits an int.
template <class T>
using MeanAccumulator =
    std::conditional_t<!std::integral<T>, Accumulator<T>,
                       std::conditional_t<(sizeof(T) < sizeof(std::int64_t)), std::int64_t, Wide128>>;

}  // namespace shoal::detail

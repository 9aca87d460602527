#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <ranges>
#include <span>
#include <type_traits>

#include "shoal/collectives/float16.h"
#include "shoal/runtime/operation.h"

// Which C++ types the operations take, and how they become bytes: the only place where they are templates.

namespace shoal {
namespace detail {

template <class T>
inline constexpr bool kIsCharacter = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                                     std::same_as<T, char16_t> || std::same_as<T, char32_t>;

template <class T>
consteval DataType integer_type() {
  constexpr bool kSigned = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1:
      return kSigned ? DataType::i8 : DataType::u8;
    case 2:
      return kSigned ? DataType::i16 : DataType::u16;
    case 4:
      return kSigned ? DataType::i32 : DataType::u32;
    case 8:
      return kSigned ? DataType::i64 : DataType::u64;
    default:
      return DataType::byte;
  }
}

/// DataType::byte where T is none of the supported types.
template <class T>
consteval DataType data_type_or_byte() {
  static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);
  if constexpr (std::same_as<T, float>) {
    return DataType::f32;
  } else if constexpr (std::same_as<T, double>) {
    return DataType::f64;
  } else if constexpr (std::same_as<T, bf16>) {
    return DataType::bf16;
  } else if constexpr (std::same_as<T, f16>) {
    return DataType::f16;
  } else if constexpr (std::same_as<T, bool>) {
    static_assert(sizeof(bool) == 1);
    return DataType::boolean;
  } else if constexpr (std::integral<T> && !kIsCharacter<T>) {
    return integer_type<T>();
  } else {
    return DataType::byte;
  }
}

}  // namespace detail

/// A type whose values can be moved and reduced: float, double, shoal::bf16, shoal::f16, and the integers of 8 to 64
/// bits, signed or not; and bool, which can be moved, and of the reductions has those that give a bool: band and min
/// (and), bor and max (or), bxor. (std::vector<bool> has no bools in memory and is refused, as every range that is not
/// contiguous.) The character types are none: what their sum is depends on the platform or is no sum.
template <class T>
concept Element = detail::data_type_or_byte<T>()
!= DataType::byte;

/// The DataType of an Element: DataType::f32 for float; long and long long are both DataType::i64 where long
/// has 64 bits.
template <Element T>
inline constexpr DataType kDataType = detail::data_type_or_byte<T>();

/// Element type of a contiguous range, without const.
template <class Range>
using ElementOf = std::remove_cv_t<std::ranges::range_value_t<Range>>;

/// What an operation can read from: any contiguous range of elements, const or not; a temporary too.
template <class Range>
concept InputRange = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    Element<ElementOf<Range>> && !std::is_volatile_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

/// What an operation can write to: an InputRange of elements that are not const, and that outlives the call
/// (an lvalue, or a view such as std::span).
template <class Range>
concept OutputRange = InputRange<Range> && std::ranges::borrowed_range<Range> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

/// Two ranges of the very same element type.
template <class One, class Other>
concept SameElement = std::same_as<ElementOf<One>, ElementOf<Other>>;

namespace detail {

template <InputRange Range>
std::span<const std::byte> input_bytes(const Range& range) {
  return std::as_bytes(std::span(std::ranges::data(range), static_cast<std::size_t>(std::ranges::size(range))));
}

template <OutputRange Range>
std::span<std::byte> output_bytes(Range&& range) {
  return std::as_writable_bytes(
      std::span(std::ranges::data(range), static_cast<std::size_t>(std::ranges::size(range))));
}

}  // namespace detail
}  // namespace shoal

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "shoal/runtime/operation.h"
#include "support/half_reference.h"

// What tests expect, by plain serial loops that know nothing of algorithms: values that differ in every rank and
// position, how vectors are cut, and reductions.

namespace shoal::test {

template <class... Ts>
struct Types {};
using IntegerTypes = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                           std::uint32_t, std::uint64_t>;
using FloatTypes = Types<float, double, bf16, f16>;
using AllTypes = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                       std::uint32_t, std::uint64_t, float, double, bf16, f16>;

/// Calls body.template operator()<T>() for each of the types.
template <class Body, class... Ts>
void for_each_type(Types<Ts...>, Body&& body) {
  (body.template operator()<Ts>(), ...);
}

inline constexpr std::array kAllReductions{ReduceOp::sum,  ReduceOp::mean, ReduceOp::min, ReduceOp::max,
                                           ReduceOp::prod, ReduceOp::band, ReduceOp::bor, ReduceOp::bxor};

inline std::uint64_t mixed_bits(std::uint64_t value) {  // splitmix64
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// The value that 64 random bits stand for. Integers use their whole range, so that sums and products wrap;
/// floating-point values of both signs lie within 1 and 32, with digits that sums and products must round.
template <class T>
T value_of_random_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return bits >> 63 != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else if constexpr (kIsHalf<T>) {
    const auto exponent = (1U << (kExponentBits<T> - 1)) - 1 + (bits >> 1 & 3);  // Of 1, 2, 4 or 8.
    const auto fraction = bits >> 8 & ((1U << kFractionBits<T>)-1);
    return T::from_bits(static_cast<std::uint16_t>(bits << 15 | exponent << kFractionBits<T> | fraction));
  } else {
    const T digits = T{1} + static_cast<T>(bits >> 12) / static_cast<T>(std::uint64_t{1} << 52);
    const T scaled = digits * static_cast<T>(1U << (bits & 3));
    return (bits & 8) == 0 ? scaled : -scaled;
  }
}

/// Element `index` of rank `rank`.
template <class T>
T value_at(int rank, std::size_t index) {
  return value_of_random_bits<T>(mixed_bits(static_cast<std::uint64_t>(rank) * 1'000'003 + index));
}

/// A value as messages show it.
template <class T>
auto shown(T value) {
  if constexpr (kIsHalf<T>) {
    return wide(value);
  } else {
    return +value;
  }
}

/// Bounds of numpy.array_split, as it words them: the first count mod ranks chunks have one element more.
inline std::vector<std::size_t> split_bounds(std::size_t count, int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> bounds{0};
  for (std::size_t rank = 0; rank < p; ++rank) bounds.push_back(bounds.back() + count / p + (rank < count % p ? 1 : 0));
  return bounds;
}

/// One step of a reduction; integers wrap. (Not for mean; of bf16 and f16 only min and max.)
template <class T>
T combined(ReduceOp op, T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    const auto a = static_cast<std::uint64_t>(left);
    const auto b = static_cast<std::uint64_t>(right);
    if (op == ReduceOp::sum) return static_cast<T>(a + b);
    if (op == ReduceOp::prod) return static_cast<T>(a * b);
    if (op == ReduceOp::band) return static_cast<T>(a & b);
    if (op == ReduceOp::bor) return static_cast<T>(a | b);
    if (op == ReduceOp::bxor) return static_cast<T>(a ^ b);
  } else if constexpr (!kIsHalf<T>) {
    if (op == ReduceOp::sum) return left + right;
    if (op == ReduceOp::prod) return left * right;
  }
  return op == ReduceOp::min ? std::min(left, right) : std::max(left, right);
}

/// The canonical tree as the design words it: far ranks first, distances halving, the lower rank left. The values, one
/// a rank, are overwritten.
template <class T>
T serial_tree(ReduceOp op, std::span<T> values) {
  std::size_t distance = 1;
  while (2 * distance < values.size()) distance *= 2;
  for (; distance >= 1; distance /= 2)
    for (std::size_t rank = 0; rank < distance; ++rank)
      if (rank + distance < values.size()) values[rank] = combined(op, values[rank], values[rank + distance]);
  return values[0];
}

/// The values of all ranks at one position, reduced; they are overwritten. bf16 and f16: in f32, and rounded once.
template <class T>
T reduced(ReduceOp op, std::span<T> values) {
  if constexpr (kIsHalf<T>) {
    std::vector<float> wide_values;
    for (const T value : values) wide_values.push_back(wide(value));
    return nearest<T>(reduced<float>(op, wide_values));
  } else {
    if (op != ReduceOp::mean) return serial_tree(op, values);
    if constexpr (std::is_integral_v<T>) {
      __extension__ __int128 sum = 0;
      for (const T value : values) sum += value;
      return static_cast<T>(sum / static_cast<int>(values.size()));
    } else {
      return serial_tree(ReduceOp::sum, values) / static_cast<T>(values.size());
    }
  }
}

/// What the ring computes for one position of the chunk of `owner`: the rank right of it begins, and the others
/// add theirs in ring order, each standing left of what comes in.
template <class T>
T serial_ring(ReduceOp op, std::span<const T> values, std::size_t owner) {
  const ReduceOp step = op == ReduceOp::mean ? ReduceOp::sum : op;
  const std::size_t ranks = values.size();
  T sum = values[(owner + 1) % ranks];
  for (std::size_t distance = 2; distance <= ranks; ++distance)
    sum = combined(step, values[(owner + distance) % ranks], sum);
  if constexpr (!kIsHalf<T>)
    if (op == ReduceOp::mean) return static_cast<T>(sum / static_cast<T>(ranks));
  return sum;
}

/// The reduced vector of `ranks` ranks, element `index` of rank `rank` being value(rank, index): as many elements as
/// `into` has, written there. Only the ring has an order of its own, which is another for each chunk.
template <class T, class Value>
void reduce_serially(Algorithm algorithm, ReduceOp op, int ranks, std::span<T> into, Value&& value) {
  const auto p = static_cast<std::size_t>(ranks);
  const auto bounds = split_bounds(into.size(), ranks);
  const auto at = std::make_unique<T[]>(p);
  for (std::size_t owner = 0; owner < p; ++owner) {
    for (std::size_t i = bounds[owner]; i < bounds[owner + 1]; ++i) {
      for (int rank = 0; rank < ranks; ++rank) at[static_cast<std::size_t>(rank)] = value(rank, i);
      const std::span<T> values(at.get(), p);
      into[i] = algorithm == Algorithm::ring ? serial_ring<T>(op, values, owner) : reduced(op, values);
    }
  }
}

}  // namespace shoal::test

#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "shoal/collectives/float16.h"
#include "shoal/collectives/partition.h"
#include "shoal/runtime/operation.h"

// What a right result is, by plain serial loops that use nothing of the collectives: a value for every rank and
// position, and one position's values of all ranks, reduced in the order of docs/determinism.md.

namespace shoal::bench {

template <class T>
inline constexpr bool kIsHalf = std::same_as<T, bf16> || std::same_as<T, f16>;

/// Element `index` of rank `rank`, before the call. Integers use their whole range, so that sums wrap; floating-point
/// values have digits that sums must round, and lie within 1 and 2 or -1 and -2.
template <class T>
T value_at(int rank, std::size_t index) {
  // A step of splitmix64.
  std::uint64_t bits = (static_cast<std::uint64_t>(rank) << 44) + index + 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  bits ^= bits >> 31;
  if constexpr (std::same_as<T, bool>) {
    return (bits & 1) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else if constexpr (kIsHalf<T>) {
    return T(value_at<float>(rank, index));
  } else {
    const T size = T{1} + static_cast<T>(bits >> 41) / static_cast<T>(1U << 23);
    return (bits & 1) == 0 ? size : -size;
  }
}

/// One step. Integers wrap.
template <class T>
T combined(ReduceOp op, T left, T right) {
  if (op == ReduceOp::min) return std::min(left, right);
  if (op == ReduceOp::max) return std::max(left, right);
  if constexpr (std::is_integral_v<T>) {
    const auto a = static_cast<std::uint64_t>(left);
    const auto b = static_cast<std::uint64_t>(right);
    if (op == ReduceOp::band) return static_cast<T>(a & b);
    if (op == ReduceOp::bor) return static_cast<T>(a | b);
    if (op == ReduceOp::bxor) return static_cast<T>(a ^ b);
    return static_cast<T>(op == ReduceOp::prod ? a * b : a + b);
  } else {
    return op == ReduceOp::prod ? left * right : left + right;
  }
}

/// Along the canonical tree: far ranks first, distances halving, the lower rank left. Overwrites the values.
template <class T>
T by_tree(ReduceOp op, std::span<T> values) {
  std::size_t distance = 1;
  while (2 * distance < values.size()) distance *= 2;
  for (; distance >= 1; distance /= 2)
    for (std::size_t rank = 0; rank < distance && rank + distance < values.size(); ++rank)
      values[rank] = combined(op, values[rank], values[rank + distance]);
  return values[0];
}

/// As the ring does it for the chunk of `owner`: the rank right of it begins, the others follow in ring order, each
/// standing left of what comes in.
template <class T>
T by_ring(ReduceOp op, std::span<const T> values, std::size_t owner) {
  const std::size_t ranks = values.size();
  T sum = values[(owner + 1) % ranks];
  for (std::size_t step = 2; step <= ranks; ++step) sum = combined(op, values[(owner + step) % ranks], sum);
  return sum;
}

/// How one call reduces.
struct SerialReduction {
  ReduceOp op = ReduceOp::sum;
  Algorithm algorithm = Algorithm::automatic;  ///< Only the ring has an order of its own.
  int ranks = 1;
  std::size_t count = 0;  ///< Of the whole vector: which chunk a position is in matters to the ring.
};

/// Positions of the result, one after another.
template <class T>
class SerialResult {
 public:
  explicit SerialResult(const SerialReduction& reduction)
      : reduction_(reduction), values_(std::make_unique<Step[]>(static_cast<std::size_t>(reduction.ranks))) {}

  T operator()(std::size_t index) {
    for (int rank = 0; rank < reduction_.ranks; ++rank)
      values_[static_cast<std::size_t>(rank)] = static_cast<Step>(value_at<T>(rank, index));
    return finished(index);
  }

 private:
  /// bf16 and f16 are combined in f32, and rounded once.
  using Step = std::conditional_t<kIsHalf<T>, float, T>;

  T finished(std::size_t index) {
    const std::span<Step> values(values_.get(), static_cast<std::size_t>(reduction_.ranks));
    if (reduction_.op != ReduceOp::mean) return static_cast<T>(reduced(reduction_.op, values, index));
    if constexpr (std::is_integral_v<T>) {
      __extension__ __int128 sum = 0;
      for (const Step value : values) sum += value;
      return static_cast<T>(sum / reduction_.ranks);
    } else {
      return static_cast<T>(reduced(ReduceOp::sum, values, index) / static_cast<Step>(reduction_.ranks));
    }
  }

  Step reduced(ReduceOp op, std::span<Step> values, std::size_t index) const {
    if (reduction_.algorithm != Algorithm::ring) return by_tree(op, values);
    const Partition chunks(reduction_.count, reduction_.ranks);
    std::size_t owner = 0;
    while (index >= chunks.end(static_cast<int>(owner))) ++owner;
    return by_ring<Step>(op, values, owner);
  }

  SerialReduction reduction_;
  std::unique_ptr<Step[]> values_;  // One a rank. (A vector of bool has no bools.)
};

}  // namespace shoal::bench

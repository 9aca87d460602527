#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include "half_reference.h"
#include "selection.h"
#include "shoal/shoal.h"
#include "support/run_ranks.h"
#include "support/takes.h"

// What the tests of all operations share: worlds, counts, values that differ in every rank and position, reductions by
// a plain serial loop, and the comparison of the ledger with the closed form.

namespace shoal {

// For GoogleTest, which finds them beside their types.
inline std::ostream& operator<<(std::ostream& out, const TrafficCount& count) {
  return out << count.calls << " calls, " << count.sent << " sent, " << count.received << " received";
}
inline std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.sent << " sent, " << cost.received << " received, " << cost.steps << " steps, " << cost.messages
             << " messages";
}

}  // namespace shoal

namespace shoal::test {

inline constexpr int kMostRanks = 9;

/// Channels so small that most messages are many times their size.
inline LaunchOptions small_channel() { return {.channel_bytes = 4096, .heap_bytes = std::uint64_t{1} << 20}; }

/// Fewer than there are ranks, counts around that number, some that no number of ranks divides, those around the switch
/// from few bytes to many (of 4-byte elements), and one beyond the channel.
inline std::vector<std::size_t> counts_around(int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> counts{0, 1, 2, 3, p - 1, p, p + 1, 17, 259, 1024, 1025, 4099};
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

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

/// Element `index` of rank `rank`. Integers use their whole range, so that sums and products wrap; floating-point
/// values of both signs lie within 1 and 32, with digits that sums and products must round.
template <class T>
T value_at(int rank, std::size_t index) {
  const std::uint64_t bits = mixed_bits(static_cast<std::uint64_t>(rank) * 1'000'003 + index);
  if constexpr (std::is_integral_v<T>) {
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

template <class T>
std::vector<T> values_of(int rank, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_at<T>(rank, i);
  return values;
}

/// What a rank writes its result over: no value of any rank.
template <class T>
std::vector<T> blank(std::size_t count) {
  return std::vector<T>(count, static_cast<T>(77));
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

/// Equal to the bit, and where not.
template <class T>
testing::AssertionResult same_bits(const std::vector<T>& expected, const std::vector<T>& actual) {
  if (expected.size() != actual.size())
    return testing::AssertionFailure() << actual.size() << " elements, expected " << expected.size();
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!std::ranges::equal(std::as_bytes(std::span(&expected[i], 1)), std::as_bytes(std::span(&actual[i], 1))))
      return testing::AssertionFailure() << "element " << i << " of " << expected.size() << " is " << shown(actual[i])
                                         << ", expected " << shown(expected[i]);
  return testing::AssertionSuccess();
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

/// The canonical tree as the design words it: far ranks first, distances halving, the lower rank left.
template <class T>
T serial_tree(ReduceOp op, std::vector<T> values) {
  std::size_t distance = 1;
  while (2 * distance < values.size()) distance *= 2;
  for (; distance >= 1; distance /= 2)
    for (std::size_t rank = 0; rank < distance; ++rank)
      if (rank + distance < values.size()) values[rank] = combined(op, values[rank], values[rank + distance]);
  return values[0];
}

/// The values of all ranks at one position, reduced. bf16 and f16: in f32, and rounded once.
template <class T>
T reduced(ReduceOp op, const std::vector<T>& values) {
  if constexpr (kIsHalf<T>) {
    std::vector<float> wide_values;
    for (const T value : values) wide_values.push_back(wide(value));
    return nearest<T>(reduced(op, wide_values));
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

/// The whole reduced vector of `ranks` ranks with values_of(rank, count).
template <class T>
std::vector<T> reduced_values(ReduceOp op, int ranks, std::size_t count) {
  std::vector<T> result(count);
  std::vector<T> at(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < count; ++i) {
    for (int rank = 0; rank < ranks; ++rank) at[static_cast<std::size_t>(rank)] = value_at<T>(rank, i);
    result[i] = reduced(op, at);
  }
  return result;
}

/// Bounds of numpy.array_split, as it words them: the first count mod ranks chunks have one element more.
inline std::vector<std::size_t> split_bounds(std::size_t count, int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> bounds{0};
  for (std::size_t rank = 0; rank < p; ++rank) bounds.push_back(bounds.back() + count / p + (rank < count % p ? 1 : 0));
  return bounds;
}

template <class T>
std::vector<T> part(const std::vector<T>& whole, std::size_t begin, std::size_t end) {
  return {whole.begin() + static_cast<std::ptrdiff_t>(begin), whole.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// Chunk `rank` of `whole`.
template <class T>
std::vector<T> chunk_of(const std::vector<T>& whole, int rank, int ranks) {
  const auto bounds = split_bounds(whole.size(), ranks);
  return part(whole, bounds[static_cast<std::size_t>(rank)], bounds[static_cast<std::size_t>(rank) + 1]);
}

/// `automatic` and every algorithm of the operation: the ways in which a call may ask.
inline std::vector<Algorithm> ways_to(Operation operation) {
  const auto algorithms = detail::algorithms_of(operation);
  std::vector<Algorithm> ways(algorithms.size() + 1, Algorithm::automatic);
  std::ranges::copy(algorithms, ways.begin() + 1);
  return ways;
}

/// The algorithm that must do a call which asks for `asked`. (What the default should be is tests/selection_test.cc's.)
inline Algorithm doer(Algorithm asked, Operation operation, int ranks, std::size_t count, DataType type,
                      ReduceOp op = ReduceOp::sum) {
  if (asked != Algorithm::automatic) return asked;
  const auto reduction =
      detail::reduces(operation) ? std::optional(detail::Reduction{.op = op, .type = type}) : std::nullopt;
  return detail::default_algorithm(
      operation, reduction,
      {.bytes = count * element_bytes(type), .ranks = ranks, .element_bytes = element_bytes(type)});
}

/// Checks that one call, made between two readings of the ledger, moved exactly what the closed form says and
/// stands in the row of its operation and algorithm.
inline void expect_cost(const Communicator& comm, const Traffic& before, Operation operation, Algorithm algorithm,
                        std::size_t count, DataType type, int root = 0, ReduceOp op = ReduceOp::sum) {
  const Traffic moved = comm.traffic() - before;
  const Cost predicted = cost({.operation = operation,
                               .algorithm = algorithm,
                               .count = count,
                               .type = type,
                               .ranks = comm.size(),
                               .rank = comm.rank(),
                               .root = root,
                               .reduce_op = op});
  const TrafficCount expected{.calls = 1, .sent = predicted.sent, .received = predicted.received};
  EXPECT_EQ(moved.sent, predicted.sent);
  EXPECT_EQ(moved.received, predicted.received);
  EXPECT_EQ(moved.by_op, (std::map<std::string, TrafficCount>{{std::string(name(operation)), expected}}));
  const std::string row = std::string(name(operation)) + ":" + std::string(name(algorithm));
  EXPECT_EQ(moved.by_algorithm, (std::map<std::string, TrafficCount>{{row, expected}}));
}

/// "count 17, f32 sum": which case of a loop failed.
inline std::string case_text(std::size_t count, DataType type, ReduceOp op) {
  return "count " + std::to_string(count) + ", " + std::string(name(type)) + " " + std::string(name(op));
}
inline std::string case_text(std::size_t count, DataType type, int root = 0,
                             Algorithm algorithm = Algorithm::automatic) {
  return "by " + std::string(name(algorithm)) + ", count " + std::to_string(count) + ", " + std::string(name(type)) +
         ", root " + std::to_string(root);
}

/// One test for each number of ranks.
class EveryWorld : public testing::TestWithParam<int> {};
inline auto every_world() { return testing::Range(1, kMostRanks + 1); }
inline std::string world_name(const testing::TestParamInfo<int>& world) {
  return std::to_string(world.param) + "ranks";
}

}  // namespace shoal::test

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "selection.h"
#include "shoal/shoal.h"
#include "support/run_ranks.h"
#include "support/serial_reference.h"
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

/// The whole reduced vector of `ranks` ranks with values_of(rank, count).
template <class T>
std::vector<T> reduced_values(ReduceOp op, int ranks, std::size_t count) {
  std::vector<T> result(count);
  reduce_serially(Algorithm::automatic, op, ranks, std::span(result), value_at<T>);
  return result;
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
inline Algorithm doer(Algorithm asked, Operation operation, Communicator& comm, std::size_t count, DataType type,
                      ReduceOp op = ReduceOp::sum) {
  if (asked != Algorithm::automatic) return asked;
  const auto reduction = reduces(operation) ? std::optional(detail::Reduction{.op = op, .type = type}) : std::nullopt;
  return detail::default_algorithm(operation, reduction,
                                   {.bytes = count * element_bytes(type), .ranks = comm.size(), .type = type},
                                   comm.calibration());
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

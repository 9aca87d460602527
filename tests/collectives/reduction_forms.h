#pragma once

#include "collective_checks.h"

// The three reducing operations, in each of their forms, checked against a serial result.

namespace shoal::test {

/// The whole vector that ranks with values_of(rank, count) must end with.
template <class T>
std::vector<T> expected_by(Algorithm algorithm, ReduceOp op, int ranks, std::size_t count) {
  std::vector<T> result(count);
  reduce_serially(algorithm, op, ranks, std::span(result), value_at<T>);
  return result;
}

template <class T>
bool can(Algorithm algorithm, ReduceOp op) {
  const bool of_bits = op == ReduceOp::band || op == ReduceOp::bor || op == ReduceOp::bxor;
  if (of_bits && !std::is_integral_v<T>) return false;
  // What is formed in a wider type only an algorithm that combines all operands in one place can form.
  const bool adds = op == ReduceOp::sum || op == ReduceOp::mean || op == ReduceOp::prod;
  const bool wider = kIsHalf<T> ? adds : std::is_integral_v<T> && op == ReduceOp::mean;
  return !wider || algorithm == Algorithm::pairwise || algorithm == Algorithm::tiny ||
         algorithm == Algorithm::automatic;
}

template <class T>
void expect_all_reduce(Communicator& comm, std::size_t count, ReduceOp op, Algorithm asked) {
  if (!takes(asked, Operation::all_reduce, comm.size(), count, sizeof(T))) return;
  const Algorithm algorithm = doer(asked, Operation::all_reduce, comm, count, kDataType<T>, op);
  SCOPED_TRACE(case_text(count, kDataType<T>, op) + " by " + std::string(name(asked)));
  const auto expected = expected_by<T>(algorithm, op, comm.size(), count);
  const auto in = values_of<T>(comm.rank(), count);

  auto data = in;
  const Traffic before = comm.traffic();
  all_reduce(comm, data, op, {.algorithm = asked});
  expect_cost(comm, before, Operation::all_reduce, algorithm, count, kDataType<T>, 0, op);
  EXPECT_TRUE(same_bits(expected, data)) << "in place";

  auto out = blank<T>(count);
  const Traffic between = comm.traffic();
  all_reduce(comm, in, out, op, {.algorithm = asked});
  expect_cost(comm, between, Operation::all_reduce, algorithm, count, kDataType<T>, 0, op);
  EXPECT_TRUE(same_bits(expected, out)) << "out of place";
  EXPECT_TRUE(same_bits(values_of<T>(comm.rank(), count), in)) << "the input is left alone";
}

template <class T>
void expect_reduce_scatter(Communicator& comm, std::size_t count, ReduceOp op, Algorithm asked) {
  if (!takes(asked, Operation::reduce_scatter, comm.size(), count, sizeof(T))) return;
  const Algorithm algorithm = doer(asked, Operation::reduce_scatter, comm, count, kDataType<T>, op);
  SCOPED_TRACE(case_text(count, kDataType<T>, op) + " by " + std::string(name(asked)));
  const auto expected = chunk_of(expected_by<T>(algorithm, op, comm.size(), count), comm.rank(), comm.size());
  const auto in = values_of<T>(comm.rank(), count);

  auto data = in;
  const Traffic before = comm.traffic();
  const std::span<T> own = reduce_scatter(comm, data, op, {.algorithm = asked});
  expect_cost(comm, before, Operation::reduce_scatter, algorithm, count, kDataType<T>, 0, op);
  EXPECT_EQ(own.data(), data.data() + split_bounds(count, comm.size())[static_cast<std::size_t>(comm.rank())]);
  EXPECT_TRUE(same_bits(expected, std::vector<T>(own.begin(), own.end()))) << "in place";

  auto out = blank<T>(expected.size());
  const Traffic between = comm.traffic();
  reduce_scatter(comm, in, out, op, {.algorithm = asked});
  expect_cost(comm, between, Operation::reduce_scatter, algorithm, count, kDataType<T>, 0, op);
  EXPECT_TRUE(same_bits(expected, out)) << "out of place";
  EXPECT_TRUE(same_bits(values_of<T>(comm.rank(), count), in)) << "the input is left alone";
}

template <class T>
void expect_reduce(Communicator& comm, std::size_t count, ReduceOp op, Algorithm asked, int root) {
  const Algorithm algorithm = doer(asked, Operation::reduce, comm, count, kDataType<T>, op);
  SCOPED_TRACE(case_text(count, kDataType<T>, op) + " by " + std::string(name(asked)) + ", root " +
               std::to_string(root));
  const auto in = values_of<T>(comm.rank(), count);
  auto out = blank<T>(comm.rank() == root ? count : 0);
  const Traffic before = comm.traffic();
  reduce(comm, in, out, op, root, {.algorithm = asked});
  expect_cost(comm, before, Operation::reduce, algorithm, count, kDataType<T>, root, op);
  if (comm.rank() == root) {
    EXPECT_TRUE(same_bits(expected_by<T>(algorithm, op, comm.size(), count), out));
  }
  EXPECT_TRUE(same_bits(values_of<T>(comm.rank(), count), in)) << "the input is left alone";
}

}  // namespace shoal::test

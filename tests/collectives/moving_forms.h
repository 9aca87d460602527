#pragma once

#include "collective_checks.h"

// The operations that only move data, in each of their forms, checked against what must arrive.

namespace shoal::test {

template <class T>
void expect_broadcast(Communicator& comm, std::size_t count, int root, Algorithm asked = Algorithm::automatic) {
  SCOPED_TRACE(case_text(count, kDataType<T>, root, asked));
  const Algorithm algorithm = doer(asked, Operation::broadcast, comm, count, kDataType<T>);
  auto data = values_of<T>(comm.rank(), count);
  const Traffic before = comm.traffic();
  broadcast(comm, data, root, {.algorithm = asked});
  expect_cost(comm, before, Operation::broadcast, algorithm, count, kDataType<T>, root);
  EXPECT_TRUE(same_bits(values_of<T>(root, count), data));
}

template <class T>
void expect_gather(Communicator& comm, std::size_t count, int root, Algorithm asked = Algorithm::automatic) {
  SCOPED_TRACE(case_text(count, kDataType<T>, root, asked));
  const Algorithm algorithm = doer(asked, Operation::gather, comm, count, kDataType<T>);
  const auto whole = values_of<T>(99, count);
  const auto in = chunk_of(whole, comm.rank(), comm.size());
  const auto in_before = in;
  auto out = blank<T>(comm.rank() == root ? count : 0);
  const Traffic before = comm.traffic();
  gather(comm, in, out, root, {.algorithm = asked});
  expect_cost(comm, before, Operation::gather, algorithm, count, kDataType<T>, root);
  if (comm.rank() == root) {
    EXPECT_TRUE(same_bits(whole, out));
  }
  EXPECT_TRUE(same_bits(in_before, in));
}

/// whole[rank::ranks]
template <class T>
std::vector<T> every_nth(const std::vector<T>& whole, int rank, int ranks) {
  std::vector<T> hand;
  for (auto i = static_cast<std::size_t>(rank); i < whole.size(); i += static_cast<std::size_t>(ranks))
    hand.push_back(whole[i]);
  return hand;
}

template <class T>
void expect_scatter(Communicator& comm, std::size_t count, int root, bool cyclic,
                    Algorithm asked = Algorithm::automatic) {
  SCOPED_TRACE(case_text(count, kDataType<T>, root, asked));
  const Operation operation = cyclic ? Operation::scatter_cyclic : Operation::scatter;
  const Algorithm algorithm = doer(asked, operation, comm, count, kDataType<T>);
  const auto whole = values_of<T>(99, count);
  const auto expected = cyclic ? every_nth(whole, comm.rank(), comm.size()) : chunk_of(whole, comm.rank(), comm.size());
  const auto in = comm.rank() == root ? whole : std::vector<T>{};
  auto out = blank<T>(expected.size());
  const Traffic before = comm.traffic();
  if (cyclic) {
    scatter_cyclic(comm, in, out, root, {.algorithm = asked});
  } else {
    scatter(comm, in, out, root, {.algorithm = asked});
  }
  expect_cost(comm, before, operation, algorithm, count, kDataType<T>, root);
  EXPECT_TRUE(same_bits(expected, out));
  if (comm.rank() == root) {
    EXPECT_TRUE(same_bits(whole, in));
  }
}

template <class T>
void expect_all_to_all(Communicator& comm, std::size_t count, Algorithm asked = Algorithm::automatic) {
  if (!takes(asked, Operation::all_to_all, comm.size(), count, sizeof(T))) return;
  SCOPED_TRACE(case_text(count, kDataType<T>, 0, asked));
  const Algorithm algorithm = doer(asked, Operation::all_to_all, comm, count, kDataType<T>);
  const auto in = values_of<T>(comm.rank(), count);
  std::vector<T> expected;
  for (int from = 0; from < comm.size(); ++from) {
    const auto chunk = chunk_of(values_of<T>(from, count), comm.rank(), comm.size());
    expected.insert(expected.end(), chunk.begin(), chunk.end());
  }
  auto out = blank<T>(expected.size());
  const Traffic before = comm.traffic();
  all_to_all(comm, in, out, {.algorithm = asked});
  expect_cost(comm, before, Operation::all_to_all, algorithm, count, kDataType<T>);
  EXPECT_TRUE(same_bits(expected, out));
  EXPECT_TRUE(same_bits(values_of<T>(comm.rank(), count), in));
}

template <class T>
void expect_all_gather(Communicator& comm, std::size_t count, bool in_place, Algorithm asked = Algorithm::automatic) {
  if (!takes(asked, Operation::all_gather, comm.size(), count, sizeof(T))) return;
  SCOPED_TRACE(case_text(count, kDataType<T>, 0, asked) + (in_place ? ", in place" : ""));
  const Algorithm algorithm = doer(asked, Operation::all_gather, comm, count, kDataType<T>);
  const auto whole = values_of<T>(99, count);
  const auto in = chunk_of(whole, comm.rank(), comm.size());
  auto out = blank<T>(count);
  const Traffic before = comm.traffic();
  if (in_place) {
    const auto begin = split_bounds(count, comm.size())[static_cast<std::size_t>(comm.rank())];
    const auto own = std::span(out).subspan(begin, in.size());
    std::ranges::copy(in, own.begin());
    all_gather(comm, own, out, {.algorithm = asked});
  } else {
    all_gather(comm, in, out, {.algorithm = asked});
  }
  expect_cost(comm, before, Operation::all_gather, algorithm, count, kDataType<T>);
  EXPECT_TRUE(same_bits(whole, out));
  EXPECT_TRUE(same_bits(chunk_of(whole, comm.rank(), comm.size()), in));
}

}  // namespace shoal::test

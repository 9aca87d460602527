#pragma once

#include <numeric>

#include "collective_checks.h"

// The v-operations in each of their forms, checked against what must arrive.

namespace shoal::test {

using Counts = std::vector<std::size_t>;

inline std::size_t sum_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

/// What lies in front of the part of `rank`.
inline std::size_t begin_of(const Counts& counts, int rank) {
  return std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0});
}

/// Lists of one length a rank: of nothing, of one rank alone, with zeros between, rising, falling, and some longer.
inline std::vector<Counts> lists_of_counts(int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<Counts> lists{Counts(p, 0), Counts(p, 0), Counts(p, 0), Counts(p, 0), Counts(p, 0), Counts(p, 0)};
  lists[1][p - 1] = 5;
  for (std::size_t rank = 0; rank < p; ++rank) {
    lists[2][rank] = rank % 2 == 0 ? 0 : 3 + rank;
    lists[3][rank] = rank;
    lists[4][rank] = 3 * (p - rank);
    lists[5][rank] = rank % 3 == 1 ? 0 : 1500 + 700 * rank;
  }
  return lists;
}

/// Checks one call's row of the ledger.
inline void expect_moved(const Communicator& comm, const Traffic& before, Operation operation, Algorithm algorithm,
                         const Cost& predicted) {
  const Traffic moved = comm.traffic() - before;
  const TrafficCount expected{.calls = 1, .sent = predicted.sent, .received = predicted.received};
  const std::string op(name(operation));
  EXPECT_EQ(moved.by_op, (std::map<std::string, TrafficCount>{{op, expected}}));
  EXPECT_EQ(moved.by_algorithm,
            (std::map<std::string, TrafficCount>{{op + ":" + std::string(name(algorithm)), expected}}));
}

inline CostQuery query_of(const Communicator& comm, Operation operation, DataType type, int root = 0) {
  return {.operation = operation, .type = type, .ranks = comm.size(), .rank = comm.rank(), .root = root};
}

template <class T>
void expect_all_gather_v(Communicator& comm, const Counts& counts, bool in_place) {
  SCOPED_TRACE("all_gather_v of " + testing::PrintToString(counts) + (in_place ? ", in place" : ""));
  const auto whole = values_of<T>(99, sum_of(counts));
  const std::size_t begin = begin_of(counts, comm.rank());
  const auto in = part(whole, begin, begin + counts[static_cast<std::size_t>(comm.rank())]);
  auto out = blank<T>(whole.size());
  const auto own = std::span(out).subspan(begin, in.size());
  if (in_place) std::ranges::copy(in, own.begin());
  const Traffic before = comm.traffic();
  if (in_place) {
    all_gather_v(comm, own, out, counts);
  } else {
    all_gather_v(comm, in, out, counts);
  }
  const CostQuery query = query_of(comm, Operation::all_gather_v, kDataType<T>);
  expect_moved(comm, before, Operation::all_gather_v, Algorithm::ring, cost(query, counts));
  EXPECT_TRUE(same_bits(whole, out));
  EXPECT_TRUE(same_bits(part(whole, begin, begin + in.size()), in));
}

/// Off the root the list may be left out.
template <class T>
void expect_gather_v(Communicator& comm, const Counts& counts, int root, bool list_everywhere) {
  SCOPED_TRACE("gather_v of " + testing::PrintToString(counts) + " to " + std::to_string(root));
  const bool at_root = comm.rank() == root;
  const auto whole = values_of<T>(99, sum_of(counts));
  const std::size_t begin = begin_of(counts, comm.rank());
  const auto in = part(whole, begin, begin + counts[static_cast<std::size_t>(comm.rank())]);
  auto out = blank<T>(at_root ? whole.size() : 0);
  const Traffic before = comm.traffic();
  gather_v(comm, in, out, at_root || list_everywhere ? counts : Counts{}, root);
  const CostQuery query = query_of(comm, Operation::gather_v, kDataType<T>, root);
  expect_moved(comm, before, Operation::gather_v, Algorithm::linear, cost(query, counts));
  if (at_root) {
    EXPECT_TRUE(same_bits(whole, out));
  }
}

template <class T>
void expect_scatter_v(Communicator& comm, const Counts& counts, int root, bool list_everywhere) {
  SCOPED_TRACE("scatter_v of " + testing::PrintToString(counts) + " from " + std::to_string(root));
  const bool at_root = comm.rank() == root;
  const auto whole = values_of<T>(99, sum_of(counts));
  const std::size_t begin = begin_of(counts, comm.rank());
  const auto expected = part(whole, begin, begin + counts[static_cast<std::size_t>(comm.rank())]);
  auto out = blank<T>(expected.size());
  const Traffic before = comm.traffic();
  scatter_v(comm, at_root ? whole : std::vector<T>{}, out, at_root || list_everywhere ? counts : Counts{}, root);
  const CostQuery query = query_of(comm, Operation::scatter_v, kDataType<T>, root);
  expect_moved(comm, before, Operation::scatter_v, Algorithm::linear, cost(query, counts));
  EXPECT_TRUE(same_bits(expected, out));
}

/// `rows[r][q]`: what rank r sends to rank q. Each rank sends its values_of, from the front.
template <class T>
void expect_all_to_all_v(Communicator& comm, const std::vector<Counts>& rows) {
  SCOPED_TRACE("all_to_all_v of " + testing::PrintToString(rows));
  const auto rank = static_cast<std::size_t>(comm.rank());
  const auto in = values_of<T>(comm.rank(), sum_of(rows[rank]));
  Counts column;
  std::vector<T> expected;
  for (std::size_t from = 0; from < rows.size(); ++from) {
    const auto all = values_of<T>(static_cast<int>(from), sum_of(rows[from]));
    const std::size_t begin = begin_of(rows[from], comm.rank());
    const auto arriving = part(all, begin, begin + rows[from][rank]);
    expected.insert(expected.end(), arriving.begin(), arriving.end());
    column.push_back(rows[from][rank]);
  }
  auto out = blank<T>(expected.size());
  const Traffic before = comm.traffic();
  all_to_all_v(comm, in, rows[rank], out, column);
  const CostQuery query = query_of(comm, Operation::all_to_all_v, kDataType<T>);
  expect_moved(comm, before, Operation::all_to_all_v, Algorithm::pairwise, cost(query, rows[rank], column));
  EXPECT_TRUE(same_bits(expected, out));
  EXPECT_TRUE(same_bits(values_of<T>(comm.rank(), in.size()), in));
}

/// Rank r sends to rank q by a rule that is its own transpose for no r and q but equal ones; a third of it zeros.
inline std::vector<Counts> uneven_rows(int ranks, std::size_t scale) {
  std::vector<Counts> rows;
  for (std::size_t from = 0; from < static_cast<std::size_t>(ranks); ++from) {
    rows.emplace_back();
    for (std::size_t to = 0; to < static_cast<std::size_t>(ranks); ++to)
      rows.back().push_back((from + 2 * to) % 3 == 0 ? 0 : scale * (1 + from * 2 + to * 5));
  }
  return rows;
}

/// Every v-operation once with each of the lists.
template <class T>
void expect_v_operations(Communicator& comm, std::size_t scale) {
  for (const Counts& counts : lists_of_counts(comm.size())) {
    const int root = static_cast<int>(sum_of(counts)) % comm.size();
    for (const bool choice : {false, true}) {
      expect_all_gather_v<T>(comm, counts, choice);
      expect_gather_v<T>(comm, counts, root, choice);
      expect_scatter_v<T>(comm, counts, root, choice);
    }
  }
  expect_all_to_all_v<T>(comm, uneven_rows(comm.size(), scale));
}

}  // namespace shoal::test

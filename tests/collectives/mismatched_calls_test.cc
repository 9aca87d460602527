// Ranks that do not make the same call (B23, B24, B36): every one of them learns it, and what both sides did.

#include "mismatches.h"
#include "v_forms.h"

namespace shoal::test {
namespace {

/// One call, with the least data that its arguments need.
template <class T>
void make_call(Communicator& comm, Operation operation, std::size_t count, int root = 0, ReduceOp op = ReduceOp::sum,
               Algorithm algorithm = Algorithm::automatic) {
  const bool at_root = comm.rank() == root;
  const std::size_t own = Partition(count, comm.size()).size(comm.rank());
  const Options options{.algorithm = algorithm};
  const int right = (comm.rank() + 1) % comm.size();
  const int left = (comm.rank() + comm.size() - 1) % comm.size();
  std::vector<T> whole(count);
  std::vector<T> chunk(own);
  std::vector<T> out(operation == Operation::all_to_all ? own * static_cast<std::size_t>(comm.size()) : count);
  const std::span<T> none;
  switch (operation) {
    case Operation::broadcast:
      return broadcast(comm, whole, root, options);
    case Operation::reduce:
      return reduce(comm, whole, at_root ? std::span(out) : none, op, root, options);
    case Operation::all_reduce:
      return all_reduce(comm, whole, op, options);
    case Operation::reduce_scatter:
      return reduce_scatter(comm, whole, chunk, op, options);
    case Operation::all_gather:
      return all_gather(comm, chunk, whole, options);
    case Operation::gather:
      return gather(comm, chunk, at_root ? std::span(whole) : none, root, options);
    case Operation::scatter:
      return scatter(comm, at_root ? std::span(whole) : none, chunk, root, options);
    case Operation::scatter_cyclic:
      return scatter_cyclic(comm, at_root ? std::span(whole) : none, chunk, root, options);
    case Operation::all_to_all:
      return all_to_all(comm, whole, out, options);
    case Operation::exchange:
      return exchange(comm, whole, right, out, left);
    case Operation::send:  // Rank 0 sends and rank 1 receives.
      if (comm.rank() == 0) send(comm, whole, 1);
      if (comm.rank() == 1) recv(comm, whole, 0);
      return;
    default:
      FAIL() << name(operation);
  }
}

constexpr std::array kWithCount{Operation::broadcast,      Operation::reduce,     Operation::all_reduce,
                                Operation::reduce_scatter, Operation::all_gather, Operation::all_to_all};
constexpr std::array kRooted{Operation::broadcast, Operation::reduce, Operation::gather, Operation::scatter,
                             Operation::scatter_cyclic};

TEST(MismatchedCounts, AreToldToEveryRankWithTheOperationAndBothCounts) {
  for (const int world : {3, 4}) {
    for (int culprit = 0; culprit < world; ++culprit) {
      for (const Operation operation : kWithCount) {
        SCOPED_TRACE(std::string(name(operation)) + ", rank " + std::to_string(culprit));
        expect_mismatch(
            world, {std::string(name(operation)) + " (", "count 409600", "count 409598", "rank ", "peer "},
            [&](Communicator& comm) { make_call<float>(comm, operation, comm.rank() == culprit ? 409598 : 409600); },
            1);
      }
    }
  }
}

TEST(MismatchedCounts, OfAReductionAreToldByWhateverAlgorithm) {
  for (const Algorithm algorithm : {Algorithm::pairwise, Algorithm::ring}) {
    for (const std::size_t wrong : {0U, 1U, 2U, 4U, 500U}) {  // 3 on the other ranks.
      expect_mismatch(3, {"all_reduce (" + std::string(name(algorithm)), "count 3", "count " + std::to_string(wrong)},
                      [&](Communicator& comm) {
                        make_call<float>(comm, Operation::all_reduce, comm.rank() == 2 ? wrong : 3, 0, ReduceOp::sum,
                                         algorithm);
                      });
    }
  }
}

TEST(MismatchedCounts, WhichOnlyTheRootKnowsShowInTheBytes) {
  // 409600 over 4 is 102400 each; of 409598 ranks 2 and 3 have one less.
  for (const Operation operation : {Operation::gather, Operation::scatter, Operation::scatter_cyclic}) {
    for (const int culprit : {0, 3}) {
      SCOPED_TRACE(std::string(name(operation)) + ", rank " + std::to_string(culprit));
      expect_mismatch(
          4, {"mismatch in " + std::string(name(operation)), "409600 ", "409596 ", " bytes where "},
          [&](Communicator& comm) {
            make_call<float>(comm, operation, comm.rank() == culprit ? 409598 : 409600, 0, ReduceOp::sum,
                             Algorithm::linear);
          },
          2);
    }
  }
}

TEST(MismatchedCounts, OfPointToPointAreTold) {
  expect_mismatch(
      3, {"send (", "recv (", "count 409600", "count 409598"},
      [](Communicator& comm) { make_call<float>(comm, Operation::send, comm.rank() == 1 ? 409598 : 409600); }, 2);
  expect_mismatch(
      3,
      {"mismatch in exchange (auto, f32, count 3): peer 0 sent 12 bytes where 16 were expected, in exchange "
       "(auto, f32, count 3)"},
      [](Communicator& comm) {
        // Rank 1 expects four elements of rank 0, which sends three.
        std::vector<float> in(comm.rank() == 1 ? 4 : 3);
        exchange(comm, std::vector<float>(3), (comm.rank() + 1) % 3, in, (comm.rank() + 2) % 3);
      });
}

TEST(MismatchedCounts, OfAnExchangeWithAPlainReceiveNameBothCalls) {
  expect_mismatch(2,
                  {"mismatch in recv (auto, f32, count 5): peer 0 sent 16 bytes where 20 were expected, in exchange "
                   "(auto, f32, count 4)"},
                  [](Communicator& comm) {
                    std::vector<float> in(comm.rank() == 0 ? 4 : 5);
                    if (comm.rank() == 0) {
                      exchange(comm, std::vector<float>(4), 1, in, 1);
                    } else {
                      recv(comm, in, 0);
                    }
                  });
}

TEST(MismatchedCounts, OfASendNameTheOneThatDoesNotFit) {
  // Of three sends the second; the third is of the very size that is waited for.
  expect_mismatch(2,
                  {"mismatch in recv (auto, f32, count 3): peer 0 sent 20 bytes where 12 were expected, in send (auto, "
                   "f32, count 5)"},
                  [](Communicator& comm) {
                    for (const std::size_t count : {3U, 5U, 3U}) {
                      if (comm.rank() == 0) send(comm, std::vector<float>(count), 1);
                      std::vector<float> in(3);
                      if (comm.rank() == 1) recv(comm, in, 0);
                    }
                  });
}

/// Two of three ranks call with Ours, rank `culprit` with Theirs, of as many bytes.
template <class Ours, class Theirs>
void expect_types_mismatch(Operation operation, int culprit, std::size_t bytes) {
  SCOPED_TRACE(std::string(name(operation)) + ", rank " + std::to_string(culprit));
  expect_mismatch(
      3, {std::string(name(kDataType<Ours>)), std::string(name(kDataType<Theirs>)), "rank ", "peer "},
      [&](Communicator& comm) {
        if (comm.rank() == culprit) {
          make_call<Theirs>(comm, operation, bytes / sizeof(Theirs));
        } else {
          make_call<Ours>(comm, operation, bytes / sizeof(Ours));
        }
      },
      2);
}

TEST(MismatchedTypes, OfAsManyBytesAreTold) {
  for (const Operation operation :
       {Operation::broadcast, Operation::reduce, Operation::all_reduce, Operation::reduce_scatter,
        Operation::all_gather, Operation::gather, Operation::scatter, Operation::scatter_cyclic, Operation::all_to_all,
        Operation::exchange, Operation::send}) {
    for (const int culprit : {0, 1}) {
      expect_types_mismatch<float, double>(operation, culprit, 48);
      expect_types_mismatch<float, std::int32_t>(operation, culprit, 48);
      expect_types_mismatch<bf16, f16>(operation, culprit, 48);
    }
  }
}

TEST(MismatchedTypes, OfVOperationsAreTold) {
  const auto call = []<class T>(Communicator& comm, T /*type*/, Operation operation) {
    const Counts counts{2, 0, 3};
    const auto own = std::vector<T>(counts[static_cast<std::size_t>(comm.rank())]);
    std::vector<T> all(5);
    const bool at_root = comm.rank() == 1;
    const std::span<T> none;
    auto chunk = own;
    if (operation == Operation::all_gather_v) all_gather_v(comm, own, all, counts);
    if (operation == Operation::gather_v) gather_v(comm, own, at_root ? std::span(all) : none, counts, 1);
    if (operation == Operation::scatter_v) scatter_v(comm, at_root ? std::span(all) : none, chunk, counts, 1);
    std::vector<T> transposed(3);
    const Counts ones(3, 1);
    if (operation == Operation::all_to_all_v) all_to_all_v(comm, std::vector<T>(3), ones, transposed, ones);
  };
  for (const Operation operation :
       {Operation::all_gather_v, Operation::gather_v, Operation::scatter_v, Operation::all_to_all_v}) {
    SCOPED_TRACE(name(operation));
    expect_mismatch(3, {std::string(name(operation)), "f32", "i32"}, [&](Communicator& comm) {
      if (comm.rank() == 0) {
        call(comm, float{}, operation);
      } else {
        call(comm, std::int32_t{}, operation);
      }
    });
  }
}

TEST(MismatchedReductions, AreTold) {
  for (const Operation operation : {Operation::reduce, Operation::all_reduce, Operation::reduce_scatter}) {
    for (const std::size_t count : {1U, 9U, 30'000U}) {
      SCOPED_TRACE(std::string(name(operation)) + ", count " + std::to_string(count));
      expect_mismatch(
          3, {std::string(name(operation)) + " (", "f32 sum", "f32 max"},
          [&](Communicator& comm) {
            make_call<float>(comm, operation, count, 0, comm.rank() == 1 ? ReduceOp::max : ReduceOp::sum);
          },
          2);
    }
  }
}

TEST(MismatchedRoots, AreTold) {
  for (const Operation operation : kRooted) {
    for (const int culprit : {0, 1, 2}) {
      SCOPED_TRACE(std::string(name(operation)) + ", rank " + std::to_string(culprit));
      expect_mismatch(
          3, {std::string(name(operation)) + " (", "root 0", "root 1"},
          [&](Communicator& comm) { make_call<float>(comm, operation, 9, comm.rank() == culprit ? 1 : 0); }, 3);
    }
  }
}

TEST(MismatchedOperations, AreToldWithWhatBothSidesCalled) {
  // B36: rank 1 broadcasts where the others all-reduce; and two more kinds of it.
  for (const int culprit : {0, 1, 2}) {
    expect_mismatch(
        3, {"in call 1, broadcast (", "in call 1, all_reduce (", "f32, count 7", "f32 sum, count 7", "rank ", "peer "},
        [&](Communicator& comm) {
          make_call<float>(comm, comm.rank() == culprit ? Operation::broadcast : Operation::all_reduce, 7);
        });
    expect_mismatch(3, {"all_gather (", "barrier ("}, [&](Communicator& comm) {
      comm.rank() == culprit ? barrier(comm) : make_call<float>(comm, Operation::all_gather, 7);
    });
  }
  expect_mismatch(3, {"all_reduce (ring", "all_reduce (pairwise"}, [](Communicator& comm) {
    make_call<float>(comm, Operation::all_reduce, 7, 0, ReduceOp::sum,
                     comm.rank() == 1 ? Algorithm::ring : Algorithm::pairwise);
  });
}

TEST(MismatchedOperations, AreNeverFoundWhereCallsDoFit) {
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    for (int round = 0; round < 500; ++round) {
      barrier(comm);
      make_call<float>(comm, Operation::broadcast, 5, round % 3);
      make_call<float>(comm, Operation::gather, 5, round % 3);
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

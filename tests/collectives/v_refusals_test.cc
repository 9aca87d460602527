// Lists of lengths that cannot be: refused on the rank that has them, or, where only two ranks together show it, a
// mismatch that names both.

#include <limits>

#include "mismatches.h"
#include "refusals.h"
#include "v_forms.h"

namespace shoal::test {
namespace {

std::vector<int> some(std::size_t count) { return std::vector<int>(count, 1); }

TEST(VCounts, OfOneRankThatDoNotFitAreRefusedNamingTheArgument) {
  const auto all_gather_with = [](std::size_t in, std::size_t out, const Counts& counts) {
    return [=](Communicator& comm) {
      const bool wrong = comm.rank() == 1;
      auto whole = some(wrong ? out : 6);
      all_gather_v(comm, some(wrong ? in : static_cast<std::size_t>(comm.rank() + 1)), whole,
                   wrong ? counts : Counts{1, 2, 3});
    };
  };
  expect_refused(3, 1, "all_gather_v: counts has 2 entries, not 3: one for each rank", all_gather_with(2, 6, {4, 2}));
  expect_refused(3, 1, "all_gather_v: counts has 1 entry, not 3: one for each rank", all_gather_with(2, 6, {6}));
  expect_refused(3, 1, "all_gather_v: counts adds up to 7, but out has 6 elements", all_gather_with(2, 6, {1, 2, 4}));
  expect_refused(3, 1, "all_gather_v: counts adds up to 5, but out has 6 elements", all_gather_with(2, 6, {0, 2, 3}));
  expect_refused(3, 1, "all_gather_v: in has 3 elements, not 2: this rank's entry of counts",
                 all_gather_with(3, 6, {1, 2, 3}));
  // 2^63 + 2^63 + 6 is 6 in 64 bits.
  const std::size_t half = std::size_t{1} << 63;
  expect_refused(3, 1, "all_gather_v: counts adds up to more than 64 bits hold, but out has 6 elements",
                 all_gather_with(2, 6, {half, half, 6}));

  expect_refused(3, 1, "gather_v: counts adds up to 7, but out has 6 elements", [](Communicator& comm) {
    auto out = some(comm.rank() == 1 ? 6 : 0);
    gather_v(comm, some(2), out, comm.rank() == 1 ? Counts{2, 2, 3} : Counts{}, 1);
  });
  expect_refused(3, 1, "gather_v: in has 1 element, not 2: this rank's entry of counts", [](Communicator& comm) {
    auto out = some(comm.rank() == 0 ? 6 : 0);
    gather_v(comm, some(comm.rank() == 1 ? 1 : 2), out, Counts{2, 2, 2}, 0);
  });
  expect_refused(3, 1, "gather_v: out has 6 elements, not 0: it is used at the root only, which is rank 0",
                 [](Communicator& comm) {
                   auto out = some(comm.rank() == 2 ? 0 : 6);
                   gather_v(comm, some(2), out, Counts{2, 2, 2}, 0);
                 });
  expect_refused(3, 1, "scatter_v: counts has 0 entries, not 3: one for each rank", [](Communicator& comm) {
    auto out = some(2);
    scatter_v(comm, some(comm.rank() == 1 ? 6 : 0), out, Counts{}, 1);
  });
  expect_refused(3, 1, "scatter_v: counts has 4 entries, not 3: one for each rank", [](Communicator& comm) {
    auto out = some(2);
    scatter_v(comm, some(comm.rank() == 0 ? 6 : 0), out, comm.rank() == 1 ? Counts{2, 2, 2, 0} : Counts{2, 2, 2});
  });
  expect_refused(3, 1, "scatter_v: in has 6 elements, not 0: it is used at the root only, which is rank 0",
                 [](Communicator& comm) {
                   auto out = some(2);
                   scatter_v(comm, some(comm.rank() == 2 ? 0 : 6), out, Counts{2, 2, 2}, 0);
                 });

  const auto all_to_all_with = [](const Counts& sends, const Counts& receives) {
    return [=](Communicator& comm) {
      auto out = some(3);
      all_to_all_v(comm, some(3), comm.rank() == 1 ? sends : Counts{1, 1, 1}, out,
                   comm.rank() == 1 ? receives : Counts{1, 1, 1});
    };
  };
  expect_refused(3, 1, "all_to_all_v: send_counts adds up to 4, but in has 3 elements",
                 all_to_all_with({1, 1, 2}, {1, 1, 1}));
  expect_refused(3, 1, "all_to_all_v: receive_counts has 2 entries, not 3: one for each rank",
                 all_to_all_with({1, 1, 1}, {1, 2}));
  expect_refused(3, 1, "all_to_all_v: receive_counts[1] is 0, not 1: what this rank sends to itself",
                 all_to_all_with({1, 1, 1}, {2, 0, 1}));
}

TEST(VRoots, OutsideTheCommunicatorAreRefusedEvenForNoData) {
  std::vector<float> none;
  expect_bad_root("gather_v", [&](Communicator& comm, int root) {
    gather_v(comm, none, none, Counts(static_cast<std::size_t>(comm.size())), root);
  });
  expect_bad_root("scatter_v", [&](Communicator& comm, int root) {
    scatter_v(comm, none, none, Counts(static_cast<std::size_t>(comm.size())), root);
  });
}

TEST(VOverlap, OfInputAndOutputIsRefusedExceptTheOwnPartOfAllGatherV) {
  auto data = some(16);
  const auto at = [&](std::size_t begin, std::size_t count) { return std::span(data).subspan(begin, count); };
  const auto empty_but_at_root = [&](Communicator& comm) { return comm.rank() == 1 ? at(0, 8) : at(0, 0); };
  expect_refused(2, 1, "all_gather_v: in and out overlap", [&](Communicator& comm) {  // Its part begins at 3.
    all_gather_v(comm, comm.rank() == 1 ? at(2, 5) : at(8, 3), at(0, 8), Counts{3, 5});
  });
  expect_refused(2, 1, "gather_v: in and out overlap", [&](Communicator& comm) {
    gather_v(comm, comm.rank() == 1 ? at(7, 5) : at(8, 3), empty_but_at_root(comm), Counts{3, 5}, 1);
  });
  expect_refused(2, 1, "scatter_v: in and out overlap", [&](Communicator& comm) {
    scatter_v(comm, empty_but_at_root(comm), comm.rank() == 1 ? at(0, 5) : at(8, 3), Counts{3, 5}, 1);
  });
  expect_refused(2, 1, "all_to_all_v: in and out overlap", [&](Communicator& comm) {
    all_to_all_v(comm, at(0, 4), Counts{2, 2}, comm.rank() == 1 ? at(3, 4) : at(8, 4), Counts{2, 2});
  });
}

TEST(VAlgorithms, ThatCannotDoThemAreRefusedByName) {
  const auto only_on_one = [](Communicator& comm, Algorithm algorithm) {
    return Options{.algorithm = comm.rank() == 1 ? algorithm : Algorithm::automatic};
  };
  expect_refused(2, 1, "all_to_all_v: algorithm bruck is not one of: pairwise", [&](Communicator& comm) {
    auto out = some(2);
    all_to_all_v(comm, some(2), Counts{1, 1}, out, Counts{1, 1}, only_on_one(comm, Algorithm::bruck));
  });
  expect_refused(2, 1, "all_gather_v: algorithm recursive_doubling is not one of: ring", [&](Communicator& comm) {
    auto out = some(2);
    all_gather_v(comm, some(1), out, Counts{1, 1}, only_on_one(comm, Algorithm::recursive_doubling));
  });
}

TEST(AllToAllV, ListsThatAreNotTransposedNameThePairWithBothItsLengths) {
  // The field's example, i32: sends [[0,2,1],[3,0,0],[1,1,4]]. One pair is broken, the totals of the rank kept.
  const std::array<Counts, 3> sends{{{0, 2, 1}, {3, 0, 0}, {1, 1, 4}}};
  const std::array<Counts, 3> receives{{{0, 3, 1}, {2, 0, 1}, {1, 0, 4}}};
  for (const std::size_t culprit : {0U, 1U, 2U}) {
    // The culprit takes one element more from one of the others and one less from the other, where it can.
    const std::size_t one = (culprit + 1) % 3;
    const std::size_t other = (culprit + 2) % 3;
    auto wrong = receives;
    const std::size_t from = wrong[culprit][other] > 0 ? other : one;
    const std::size_t more = from == other ? one : other;
    --wrong[culprit][from];
    ++wrong[culprit][more];
    const auto call = [&](Communicator& comm) {
      const auto rank = static_cast<std::size_t>(comm.rank());
      auto out = some(sum_of(wrong[rank]));
      all_to_all_v(comm, some(sum_of(sends[rank])), sends[rank], out, wrong[rank]);
    };
    // Pairwise it hears from its left neighbour first.
    const std::string pair = ": peer " + std::to_string(other) + " sent " + std::to_string(4 * sends[other][culprit]) +
                             " bytes where " + std::to_string(4 * wrong[culprit][other]) + " were expected";
    expect_mismatch(3, {"rank " + std::to_string(culprit) + ": mismatch in all_to_all_v (pairwise", pair}, call);
  }
}

TEST(AllToAllV, AnEmptyMessageTooShowsThatMoreWasExpected) {
  // Rank 0 sends nothing to rank 1, which expects one i32; the totals of both are as they were.
  const auto call = [](Communicator& comm) {
    const std::array<Counts, 3> sends{{{1, 0, 1}, {0, 1, 1}, {1, 1, 0}}};
    const std::array<Counts, 3> receives{{{1, 0, 1}, {1, 1, 0}, {1, 1, 0}}};
    const auto rank = static_cast<std::size_t>(comm.rank());
    auto out = some(2);
    all_to_all_v(comm, some(2), sends[rank], out, receives[rank]);
  };
  const auto ranks = run_ranks(3, [&](Communicator& comm) {
    try {
      call(comm);
      barrier(comm);
      ADD_FAILURE();
    } catch (const Error& error) {
      const std::string first =
          "rank 1: mismatch in all_to_all_v (pairwise, step 1 of 2): peer 0 sent 0 bytes where 4 ";
      const std::string second =
          "rank 1: mismatch in all_to_all_v (pairwise, step 2 of 2): peer 2 sent 4 bytes where 0 ";
      const std::string text = error.what();
      EXPECT_EQ(name(error.code()), "mismatch");
      EXPECT_TRUE(text.find(first) != std::string::npos || text.find(second) != std::string::npos) << text;
    }
  });
  EXPECT_TRUE(ranks.checks_passed()) << ranks;
  expect_mismatch(3, {"rank 1: mismatch in all_to_all_v", "bytes where"}, call);
}

TEST(AllGatherV, ListsThatDifferAreFoundWhateverTheirSums) {
  expect_mismatch(4, {"mismatch in all_gather_v (ring", "bytes where"}, [](Communicator& comm) {
    // Ranks 2 and 3 take ranks 0 and 1 for three and one, not two and two; in i32.
    auto out = some(8);
    all_gather_v(comm, some(2), out, comm.rank() >= 2 ? Counts{3, 1, 2, 2} : Counts{2, 2, 2, 2});
  });
  expect_mismatch(3, {"all_gather_v (ring, i32, count 6)", "all_gather_v (ring, i32, count 7)"},
                  [](Communicator& comm) {
                    auto out = some(comm.rank() == 1 ? 7 : 6);
                    all_gather_v(comm, some(2), out, comm.rank() == 1 ? Counts{2, 2, 3} : Counts{2, 2, 2});
                  });
}

TEST(RootedV, LengthsThatTheRootDoesNotExpectNameBothRanksAndBothLengths) {
  for (const int root : {0, 1, 2}) {
    const std::string at_root = std::to_string(root);
    const int culprit = (root + 1) % 3;
    const std::string sender = std::to_string(culprit);
    for (const std::size_t expected : {0U, 2U, 5000U}) {
      Counts counts(3, 3);
      counts[static_cast<std::size_t>(culprit)] = expected;
      expect_mismatch(3,
                      {"rank " + at_root + ": mismatch in gather_v (linear",
                       "peer " + sender + " sent 4 bytes where " + std::to_string(4 * expected)},
                      [&](Communicator& comm) {
                        auto out = some(comm.rank() == root ? sum_of(counts) : 0);
                        gather_v(comm, some(comm.rank() == culprit ? 1 : 3), out,
                                 comm.rank() == root ? counts : Counts{}, root);
                      });
      expect_mismatch(3,
                      {"rank " + sender + ": mismatch in scatter_v (linear",
                       "peer " + at_root + " sent " + std::to_string(4 * expected) + " bytes where 4 were expected"},
                      [&](Communicator& comm) {
                        auto out = some(comm.rank() == culprit ? 1 : 3);
                        scatter_v(comm, some(comm.rank() == root ? sum_of(counts) : 0), out,
                                  comm.rank() == root ? counts : Counts{}, root);
                      });
    }
  }
}

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(name(error.code()), "invalid_argument");
    return error.what();
  }
  return "not refused";
}

TEST(CostOfVOperations, RefusesWhatIsNoCallNamingIt) {
  const Counts two{1, 2};
  EXPECT_EQ(refusal_of([&] { (void)cost({.operation = Operation::gather_v, .ranks = 3}, two); }),
            "cost: gather_v: counts has 2 entries, not 3: one for each rank");
  EXPECT_EQ(refusal_of([&] { (void)cost({.operation = Operation::gather_v, .ranks = 2, .root = 2}, two); }),
            "cost: gather_v: root 2 is not one of 2 ranks");
  EXPECT_EQ(refusal_of([&] { (void)cost({.operation = Operation::all_gather_v, .ranks = 2, .rank = -1}, two); }),
            "cost: all_gather_v: rank -1 is not one of 2 ranks");
  EXPECT_EQ(refusal_of([&] { (void)cost({.operation = Operation::all_to_all_v, .ranks = 2}, two); }),
            "cost: all_to_all_v: takes no single list of counts");
  EXPECT_EQ(refusal_of([&] { (void)cost({.operation = Operation::gather, .ranks = 2}, two); }),
            "cost: gather: takes no single list of counts");
  EXPECT_EQ(refusal_of([&] { (void)cost({.operation = Operation::gather_v, .ranks = 2}, two, two); }),
            "cost: gather_v: takes no lists of what is sent and received");
}

}  // namespace
}  // namespace shoal::test

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory_resource>
#include <string>

#include "shoal/runtime/communicator.h"
#include "shoal/runtime/simulation.h"
#include "support/run_ranks.h"

// Rounds of arrivals, on real ranks and under chosen schedules: every rank sees what every other published in that very
// round, whatever the others are doing meanwhile.

namespace shoal {
namespace {

using ::testing::HasSubstr;

constexpr Call kCall{.operation = Operation::all_gather, .algorithm = Algorithm::tiny, .count = 3};

std::array<std::uint64_t, 3> content(int rank, std::uint64_t round) {
  const auto own = static_cast<std::uint64_t>(rank);
  return {round * 1000 + own, ~(round + own), own << 32 | round};
}

/// One call of `rounds` rounds. `skip_one`: without awaiting the right neighbour, which is against the rules.
void go_round(Communicator& comm, std::uint64_t first, std::uint64_t rounds, bool skip_one = false) {
  const auto p = static_cast<std::uint64_t>(comm.size());
  comm.perform(kCall, {}, [&] {
    for (std::uint64_t round = first; round < first + rounds; ++round) {
      const auto own = content(comm.rank(), round);
      comm.arrive(std::as_bytes(std::span(own)), (p - 1) * sizeof own);
      std::array<const std::byte*, 16> seen{};
      for (int distance = 1; distance < comm.size(); ++distance) {
        const int rank = (comm.rank() + distance) % comm.size();
        if (skip_one && distance == 1) continue;
        seen[static_cast<std::size_t>(rank)] = comm.await_arrival(rank, 0, sizeof own).data();
      }
      // Read late, when all have arrived and some may have gone on.
      for (int rank = 0; rank < comm.size(); ++rank) {
        const std::byte* const theirs = seen[static_cast<std::size_t>(rank)];
        if (theirs == nullptr) continue;
        const auto expected = content(rank, round);
        if (std::memcmp(theirs, expected.data(), sizeof expected) != 0)
          throw std::runtime_error("round " + std::to_string(round) + ": not what rank " + std::to_string(rank) +
                                   " published");
      }
    }
  });
}

TEST(Arrivals, ShowEveryRankWhatEveryOtherPublishedInThatRound) {
  for (const int ranks : {1, 2, 3, 5, 9}) {
    const auto result = run_ranks(ranks, [](Communicator& comm) {
      for (std::uint64_t call = 0; call < 40; ++call) go_round(comm, call * 50, call % 50);
      const auto expected = 780U * 24U * static_cast<std::uint64_t>(comm.size() - 1);  // 0 + 1 + ... + 39 rounds.
      EXPECT_EQ(comm.traffic().sent, expected);
      EXPECT_EQ(comm.traffic().received, expected);
    });
    EXPECT_TRUE(result.all_passed()) << result;
  }
}

TEST(Arrivals, OfSubCommunicatorsHaveLinesOfTheirOwnAndBeginAnewInEach) {
  const auto result = run_ranks(6, [](Communicator& comm) {
    for (int turn = 0; turn < 20; ++turn) {  // The same slots again and again, left at odd and even rounds.
      Communicator half = comm.split(comm.rank() % 2);
      go_round(half, 1, 3 + static_cast<std::uint64_t>(turn % 2));
      Communicator pair = half.split(half.rank() / 2);
      go_round(comm, 500, 2);
      go_round(pair, 100, 1);
      go_round(half, 200, 2);
    }
  });
  EXPECT_TRUE(result.all_passed()) << result;
}

// Where what one rank shows lies is told to the others, who go there: to all of a heap and of staging, and nowhere else.
TEST(Arrivals, ShowWhatLiesInAHeapOrInStagingAndNothingElse) {
  const auto ranks =
      run_sessions(2,
                   [](Session& session) {
                     Communicator& comm = session.world();
                     auto* const heap = session.heap();
                     std::pmr::vector<std::uint64_t> shown(2000, 70U + static_cast<unsigned>(comm.rank()), heap);
                     std::vector<std::uint64_t> own(2000);
                     comm.perform(kCall, {}, [&] {
                       const auto place = comm.place_of(std::as_bytes(std::span(shown)));
                       ASSERT_TRUE(place.has_value());
                       EXPECT_FALSE(comm.place_of(std::as_bytes(std::span(own))).has_value());
                       const auto staging = comm.staging();
                       std::ranges::fill(staging, static_cast<std::byte>(80 + comm.rank()));
                       const std::array places{*place, comm.place_of(staging).value()};
                       comm.arrive_with_notice(std::as_bytes(std::span(places)));
                       std::array<detail::Place, 2> theirs{};
                       std::memcpy(theirs.data(), comm.await_arrival(1 - comm.rank()).data(), sizeof theirs);
                       std::vector<std::uint64_t> got(2000);
                       std::memcpy(got.data(), comm.reach(theirs[0], 16'000).data(), 16'000);
                       EXPECT_EQ(got, std::vector<std::uint64_t>(2000, 71U - static_cast<unsigned>(comm.rank())));
                       for (const std::byte byte : comm.reach(theirs[1], staging.size()))
                         ASSERT_EQ(byte, static_cast<std::byte>(81 - comm.rank()));
                       comm.arrive({}, 0);  // Nobody goes on before all have looked.
                       comm.await_arrival(1 - comm.rank());
                     });
                   },
                   {.heap_bytes = std::uint64_t{1} << 20});
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Arrivals, AreWholeUnderEverySchedule) {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      const auto result = simulate(ranks,
                                   [](Communicator& comm) {
                                     go_round(comm, 1, 4);
                                     go_round(comm, 5, 3);
                                   },
                                   {.seed = seed});
      ASSERT_TRUE(result.ok()) << result;
      for (const SimulatedRank& rank : result.ranks) {
        const auto others = static_cast<std::uint64_t>(ranks - 1);
        ASSERT_EQ(rank.steps, ranks == 1 ? 0U : 7U);
        ASSERT_EQ(rank.messages, 7U * others);
        ASSERT_EQ(rank.traffic.sent, 7U * 24U * others);
        ASSERT_EQ(rank.traffic.received, 7U * 24U * others);
      }
    }
  }
}

// What the simulation is for: a rank that does not await all lets another overwrite what a third still reads.
TEST(Arrivals, FromWhomARankDoesNotAwaitAllAreFoundTorn) {
  int torn = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto result = simulate(3, [](Communicator& comm) { go_round(comm, 1, 10, true); }, {.seed = seed});
    for (const SimulatedRank& rank : result.ranks) torn += rank.error.empty() ? 0 : 1;
  }
  EXPECT_GT(torn, 0);
}

TEST(Arrivals, ThatNeverComeAreADeadlockThatNamesThem) {
  const auto result = simulate(3, [](Communicator& comm) {
    comm.perform(kCall, {}, [&] {
      if (comm.rank() == 1) return comm.recv(0, {});  // Instead of arriving.
      comm.arrive({}, 0);
      for (const int rank : {0, 1, 2})
        if (rank != comm.rank()) comm.await_arrival(rank, 0, 0);
    });
  });
  EXPECT_THAT(result.deadlock, HasSubstr("rank 0 in all_gather (tiny, step 1) waits for the arrival of rank 1"));
  EXPECT_THAT(result.deadlock, HasSubstr("rank 1 in all_gather (tiny, step 1) waits to receive from rank 0"));
}

TEST(Arrivals, OfAnotherCallAreAMismatchOnEveryRank) {
  const auto result = run_ranks(4, [](Communicator& comm) {
    Call call = kCall;
    if (comm.rank() == 2) call.count = 4;
    try {
      comm.perform(call, {}, [&] {
        comm.arrive({}, 0);
        for (int rank = 0; rank < comm.size(); ++rank)
          if (rank != comm.rank()) comm.await_arrival(rank, 0, 0);
      });
      ADD_FAILURE() << "passed";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::mismatch) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("all_gather"));
    }
  });
  EXPECT_TRUE(result.checks_passed()) << result;
}

TEST(Arrivals, OfOneThatHasLeftAreNotWaitedFor) {
  const auto result = run_ranks(3, [](Communicator& comm) {
    if (comm.rank() == 1) return;
    try {
      go_round(comm, 1, 1);
      ADD_FAILURE() << "passed";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::peer_lost) << error.what();
      EXPECT_EQ(error.peer(), 1);
    }
  });
  EXPECT_TRUE(result.checks_passed()) << result;
}

}  // namespace
}  // namespace shoal

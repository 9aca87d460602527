#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "byte_calls.h"
#include "shoal/runtime/communicator.h"
#include "shoal/runtime/simulation.h"
#include "support/errors.h"
#include "support/run_ranks.h"

// Calls that do not fit together: found by the messages; where none shows it, by those who wait, or when a rank leaves.

namespace shoal {
namespace {

using test::call_of;
using test::error_of;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

Call gather_to(int root) {
  return {
      .operation = Operation::gather, .algorithm = Algorithm::linear, .type = DataType::i32, .root = root, .count = 4};
}
Call broadcast_from(int root) {
  return {.operation = Operation::broadcast,
          .algorithm = Algorithm::linear,
          .type = DataType::i32,
          .root = root,
          .count = 1};
}

TEST(Mismatch, CallsThatDoNotFitTogetherAreReportedWithBothSides) {
  const auto ranks = test::run_ranks(2, [](Communicator& comm) {
    const Call mine{.operation = comm.rank() == 0 ? Operation::broadcast : Operation::all_reduce,
                    .algorithm = Algorithm::ring,
                    .type = DataType::f32,
                    .count = 2};
    const auto error = error_of([&] {
      comm.perform(mine, {}, [&] {
        std::vector<std::byte> in(8);
        comm.exchange(1 - comm.rank(), std::vector<std::byte>(8), 1 - comm.rank(), in);
      });
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::mismatch);
    EXPECT_THAT(error->what(),
                AllOf(HasSubstr("broadcast (ring, f32, count 2"), HasSubstr("all_reduce (ring, f32 sum, count 2)")));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Mismatch, CountsTypesReductionsAndRootsThatDifferAreMismatches) {
  const Call base{.operation = Operation::reduce,
                  .algorithm = Algorithm::ring,
                  .type = DataType::f32,
                  .reduce_op = ReduceOp::sum,
                  .root = 0,
                  .count = 2};
  Call count = base;
  count.count = 3;
  Call type = base;
  type.type = DataType::i32;
  Call op = base;
  op.reduce_op = ReduceOp::max;
  Call root = base;
  root.root = 1;
  Call algorithm = base;
  algorithm.algorithm = Algorithm::pairwise;
  for (const Call& other : {count, type, op, root, algorithm}) {
    const auto ranks = test::run_ranks(2, [&](Communicator& comm) {
      const auto error = error_of([&] {
        comm.perform(comm.rank() == 0 ? base : other, {}, [&] {
          std::vector<std::byte> in(8);
          comm.exchange(1 - comm.rank(), std::vector<std::byte>(8), 1 - comm.rank(), in);
        });
      });
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->code(), ErrorCode::mismatch);
      EXPECT_THAT(error->what(), AllOf(HasSubstr(describe(base)), HasSubstr(describe(other))));
    });
    EXPECT_TRUE(ranks.all_passed()) << ranks;
  }
}

TEST(Mismatch, MessageOfAnotherSizeThanExpectedIsAMismatch) {
  const auto ranks = test::run_ranks(2, [](Communicator& comm) {
    const auto error = error_of([&] {
      comm.perform(call_of(Operation::all_to_all_v), {}, [&] {
        std::vector<std::byte> in(comm.rank() == 0 ? 8 : 16);
        comm.exchange(1 - comm.rank(), std::vector<std::byte>(8), 1 - comm.rank(), in);
      });
      // Rank 0 got what it expected, and hears of it here.
      comm.perform(call_of(Operation::barrier), {}, [&] { comm.recv(1 - comm.rank(), {}); });
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::mismatch);
    EXPECT_THAT(error->what(), HasSubstr("peer 0 sent 8 bytes where 16 were expected"));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

// Ranks 0 and 1 each take themselves for the root: both wait to receive, and nothing is on the way.
void gather_with_two_roots(Communicator& comm) {
  const auto error = error_of([&] {
    comm.perform(gather_to(comm.rank()), {}, [&] {
      std::vector<std::byte> data(4);
      comm.recv(1 - comm.rank(), data);
    });
  });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::mismatch);
  EXPECT_NE(error->peer(), comm.rank());  // With three ranks it may be the third that tells.
  EXPECT_GE(error->peer(), 0);
  // Who threw first may have left the call by the time the other tells of it.
  EXPECT_THAT(error->what(),
              AllOf(ContainsRegex("this rank is in call [0-9]+, gather \\(linear, i32, count 4, root [01]\\), "
                                  "peer .* (is|was) in call [0-9]+, gather"),
                    HasSubstr("count 4, root 0)"), HasSubstr("count 4, root 1)")));
}

TEST(Mismatch, RanksThatOnlyWaitForEachOtherFindItInWhatTheyRecorded) {
  const auto ranks = test::run_ranks(2, gather_with_two_roots);
  EXPECT_TRUE(ranks.all_passed()) << ranks;
  const auto result = simulate(2, gather_with_two_roots);
  EXPECT_TRUE(result.ok()) << result;
  EXPECT_EQ(result.deadlock, "");
}

TEST(Mismatch, RankThatIsNotConcernedItselfHearsOfIt) {
  const auto body = [](Communicator& comm) {
    const auto error = error_of([&] {
      if (comm.rank() == 2) {
        // A call that fits rank 0's, and waits for it.
        comm.perform(gather_to(0), {}, [&] {
          std::vector<std::byte> data(4);
          comm.recv(0, data);
        });
        return;
      }
      gather_with_two_roots(comm);
      comm.perform(gather_to(0), {}, [] {});  // Having thrown it, the rank finds the communicator broken.
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), comm.rank() == 2 ? ErrorCode::mismatch : ErrorCode::broken);
    EXPECT_THAT(error->what(), AllOf(HasSubstr("root 0)"), HasSubstr("root 1)")));
  };
  const auto ranks = test::run_ranks(3, body);
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

// Both ranks stream as roots and return: no one ever waits.
void two_streaming_roots(Communicator& comm) {
  comm.perform(broadcast_from(comm.rank()), {}, [&] { comm.send(1 - comm.rank(), std::vector<std::byte>(4)); });
}

TEST(Mismatch, TwoStreamingRootsAreFoundAtTheSessionsEnd) {
  const auto result = launch(2, [](Session& session) { two_streaming_roots(session.world()); });
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(
      result.ranks[0].error + result.ranks[1].error,
      AllOf(HasSubstr("mismatch: this rank was in call 1, broadcast"), HasSubstr("root 0)"), HasSubstr("root 1)")));
  const auto simulated = simulate(2, two_streaming_roots);
  EXPECT_FALSE(simulated.ok());
  EXPECT_THAT(simulated.ranks[0].error + simulated.ranks[1].error, HasSubstr("mismatch"));
}

// The last call of one rank alone: what it sends nobody takes.
void one_call_more(Communicator& comm) {
  if (comm.rank() == 0) comm.perform(broadcast_from(0), {}, [&] { comm.send(1, std::vector<std::byte>(4)); });
}

TEST(Mismatch, MessageThatNobodyReceivedIsFoundByWhoeverLeavesLast) {
  for (int repeat = 0; repeat < 50; ++repeat) {  // Either may leave first.
    const auto result = launch(2, [](Session& session) { one_call_more(session.world()); });
    ASSERT_EQ(result.exit_code, 1);
    ASSERT_THAT(result.ranks[0].error + result.ranks[1].error,
                HasSubstr("mismatch: rank 1 left without receiving what rank 0 had sent it in"));
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto simulated = simulate(2, one_call_more, {.seed = seed});
    EXPECT_EQ(simulated.ranks[1].error,
              "rank 1: mismatch: rank 1 left without receiving what rank 0 had sent it in call 1, broadcast (linear, "
              "i32, count 1, root 0)");
  }
}

TEST(Mismatch, TwoStreamingRootsAreFoundInTheNextCallThatReceives) {
  const auto ranks = test::run_ranks(2, [](Communicator& comm) {
    two_streaming_roots(comm);
    const auto error = error_of([&] {
      comm.perform({.operation = Operation::barrier, .algorithm = Algorithm::dissemination}, {},
                   [&] { comm.exchange(1 - comm.rank(), {}, 1 - comm.rank(), {}); });
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::mismatch);
    // By then it has come out of the call that did not fit.
    EXPECT_THAT(error->what(),
                ContainsRegex("this rank was in call 1, broadcast \\(linear, i32, count 1, root [01]\\), "
                              "peer [01] (is|was) in call 1, broadcast"));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Mismatch, RankThatMakesACallMoreIsNotTakenForOneInAnotherCall) {
  // Rank 0 is a call ahead and waits; rank 1 comes to it late. Nobody may call that a mismatch.
  const auto ranks = test::run_ranks(2, [](Communicator& comm) {
    for (int i = 0; i < 3; ++i) {
      comm.perform(broadcast_from(1), {}, [&] {
        std::vector<std::byte> data(4);
        if (comm.rank() == 1) {
          timespec pause{.tv_sec = 0, .tv_nsec = 150'000'000};  // Longer than the interval between comparisons.
          nanosleep(&pause, nullptr);
          comm.send(0, data);
        } else {
          comm.recv(1, data);
        }
      });
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Mismatch, NumbersTheCallsOfItsCommunicatorAlone) {
  const auto ranks = test::run_ranks(2, [](Communicator& world) {
    Communicator pair = world.split(0);
    const auto exchange_in = [](Communicator& comm, const Call& call) {
      comm.perform(call, {}, [&] {
        std::vector<std::byte> in(4);
        comm.exchange(1 - comm.rank(), std::vector<std::byte>(4), 1 - comm.rank(), in);
      });
    };
    for (int i = 0; i < 6; ++i) exchange_in(world, call_of(Operation::all_gather, 4));
    for (int i = 0; i < 2; ++i) exchange_in(pair, call_of(Operation::all_gather, 4));
    exchange_in(pair, {.operation = Operation::exchange, .type = DataType::i32, .count = 1});  // Has no number.
    const auto error = error_of([&] {
      exchange_in(pair, call_of(pair.rank() == 0 ? Operation::barrier : Operation::all_gather, 4));
      exchange_in(pair, call_of(Operation::barrier));
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_THAT(error->what(), AllOf(HasSubstr("in call 3, barrier (linear)"),
                                     HasSubstr("in call 3, all_gather (linear, byte, count 4)")));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Mismatch, InASubcommunicatorItIsFoundAndStaysThere) {
  const auto ranks = test::run_ranks(4, [](Communicator& world) {
    Communicator pair = world.split(world.rank() / 2);
    if (world.rank() < 2) gather_with_two_roots(pair);
    const auto error = error_of([&] {
      if (world.rank() >= 2)
        pair.perform(gather_to(0), {}, [&] {
          std::vector<std::byte> data(4);
          pair.exchange(1 - pair.rank(), data, 1 - pair.rank(), data);
        });
    });
    EXPECT_FALSE(error.has_value());
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Mismatch, TheLaunchersVerdictNamesIt) {
  const auto result = launch(2, [](Session& session) {
    Communicator& comm = session.world();
    comm.perform(gather_to(comm.rank()), {}, [&] {
      std::vector<std::byte> data(4);
      comm.recv(1 - comm.rank(), data);
    });
  });
  EXPECT_EQ(result.exit_code, 1);
  ASSERT_TRUE(result.first_failure.has_value());
  EXPECT_EQ(result.first_failure->kind, FailureKind::mismatch);
  EXPECT_THAT(result.first_failure->message, AllOf(HasSubstr("root 0)"), HasSubstr("root 1)")));
}

// The late rank finds nobody left to wait for, and must not take that for the reason.
TEST(Mismatch, IsToldToWhomComesWhenTheOtherHasLeft) {
  for (int turn = 0; turn < 10; ++turn) {
    const auto ranks = run_ranks(2, [](Communicator& comm) {
      if (comm.rank() == 0) return comm.perform(broadcast_from(0), {}, [&] { comm.send(1, {}); });
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // Most likely, not certainly: right in any order.
      const Call barrier{.operation = Operation::barrier, .algorithm = Algorithm::tiny};
      const std::string text = test::refusal_of(ErrorCode::mismatch, [&] {
        comm.perform(barrier, {}, [&] {
          comm.arrive({}, 0);
          comm.await_arrival(0, 0, 0);
        });
      });
      EXPECT_THAT(text, AllOf(HasSubstr("call 1, barrier (tiny"), HasSubstr("call 1, broadcast (linear")));
    });
    EXPECT_TRUE(ranks.checks_passed()) << ranks;
  }
}

// Ranks that end by it end the job; those that had it later must still be told what it was.
TEST(Mismatch, IsWhatEveryRankEndsWithThoughTheFirstToEndEndsTheJob) {
  for (int turn = 0; turn < 25; ++turn) {
    const auto ranks = run_ranks(4, [](Communicator& comm) {
      const int root = comm.rank() == 2 ? 1 : 0;
      comm.perform(gather_to(root), {}, [&] {
        if (comm.rank() == root) {
          for (int from = 0; from < comm.size(); ++from)
            if (from != root) comm.recv(from, {});
        } else {
          comm.send(root, {});
        }
      });
      const Call barrier{.operation = Operation::barrier, .algorithm = Algorithm::dissemination};
      comm.perform(barrier, {}, [&] {
        for (int distance = 1; distance < comm.size(); distance *= 2)
          comm.exchange((comm.rank() + distance) % 4, {}, (comm.rank() + 4 - distance) % 4, {});
      });
    });
    for (const RankOutcome& rank : ranks.launch().ranks)
      EXPECT_THAT(rank.error, AllOf(HasSubstr("mismatch"), HasSubstr("root 0"), HasSubstr("root 1"))) << ranks;
  }
}

// As it is while the rank that was first to write it is still at it, and another that met it has ended the job by it.
TEST(Mismatch, IsToldInFullByTheEndOfTheJobToo) {
  JobSegment segment = JobSegment::create({.ranks = 2, .heap_bytes = 4096});
  segment.abort({.rank = 1, .kind = FailureKind::mismatch, .code = 1, .message = "rank 1: mismatch: of these"});
  Session session(segment, 0);
  const std::string text = test::refusal_of(
      ErrorCode::mismatch, [&] { session.world().perform(gather_to(0), {}, [&] { session.world().recv(1, {}); }); });
  EXPECT_EQ(text, "rank 0: told in gather (linear, step 1): rank 1: mismatch: of these");
}

}  // namespace
}  // namespace shoal

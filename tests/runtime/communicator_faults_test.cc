#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <new>
#include <string>
#include <vector>

#include "byte_calls.h"
#include "mapping.h"
#include "support/errors.h"
#include "support/run_ranks.h"

// What becomes of a call when another rank does not play its part, on real ranks.

namespace shoal {
namespace {

using test::call_of;
using test::content;
using test::error_of;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr LaunchOptions kSmallChannel{.channel_bytes = 256, .heap_bytes = 4096};

TEST(Fault, WhatALeavingRankHadSentIsStillRead) {
  const auto ranks = test::run_ranks(2, [](Communicator& comm) {
    for (int i = 0; i < 3; ++i) {
      comm.perform(call_of(Operation::broadcast, 1000), {}, [&] {
        std::vector<std::byte> data(1000);
        if (comm.rank() == 0) {
          comm.send(1, content(0, i, 1000));  // Rank 0 is gone before rank 1 reads, or not: either must do.
        } else {
          comm.recv(0, data);
          EXPECT_EQ(data, content(0, i, 1000));
        }
      });
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Fault, WaitingForARankThatLeftIsAnErrorThatNamesIt) {
  const auto result = launch(2, [](Session& session) {
    Communicator& comm = session.world();
    if (comm.rank() == 1) {
      comm.perform(call_of(Operation::gather, 8), {}, [&] {
        std::vector<std::byte> data(8);
        comm.recv(0, data);
      });
    }
  });
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.ranks[1].error, "rank 1: peer 0 lost in gather (linear, step 1): it left");
  ASSERT_TRUE(result.first_failure.has_value());
  EXPECT_EQ(result.first_failure->rank, 0);
  EXPECT_EQ(result.first_failure->kind, FailureKind::left);
}

TEST(Fault, SendingMoreThanTheChannelTakesToARankThatLeftIsAnErrorToo) {
  const auto result = launch(
      2,
      [](Session& session) {
        Communicator& comm = session.world();
        if (comm.rank() == 1) {
          comm.perform(call_of(Operation::gather, 8), {}, [&] { comm.send(0, std::vector<std::byte>(10'000)); });
        }
      },
      kSmallChannel);
  EXPECT_THAT(result.ranks[1].error, HasSubstr("peer 0 lost"));
  EXPECT_EQ(result.exit_code, 1);
}

TEST(Fault, KilledPeerEndsEveryWaitAndIsNamedWithItsSignal) {
  const auto result = launch(3, [](Session& session) {
    Communicator& comm = session.world();
    if (comm.rank() == 1) {
      raise(SIGKILL);
    }
    comm.perform({.operation = Operation::all_reduce, .algorithm = Algorithm::ring, .count = 8, .steps = 7}, {}, [&] {
      std::vector<std::byte> data(8);
      comm.recv(1, data);
    });
  });
  EXPECT_EQ(result.exit_code, 137);
  for (const std::size_t survivor : {0U, 2U}) {
    // In the wait; or on entry, where the job was over before this rank got there.
    EXPECT_THAT(result.ranks[survivor].error,
                MatchesRegex("rank " + std::to_string(survivor) +
                             ": peer 1 lost in all_reduce \\(ring(, step 1 of 7)?\\): it was ended by SIGKILL"));
  }
}

TEST(Fault, RefusalOnOneRankReachesTheOthersWithItsText) {
  const auto ranks = test::run_ranks(3, [](Communicator& comm) {
    const auto error = error_of([&] {
      if (comm.rank() == 2) {
        comm.refuse(call_of(Operation::broadcast), "root 7 is not a rank of this communicator (size 3)");
      }
      comm.perform(call_of(Operation::broadcast), {}, [&] {
        std::vector<std::byte> data(8);
        comm.recv(2, data);
      });
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), comm.rank() == 2 ? ErrorCode::invalid_argument : ErrorCode::broken);
    EXPECT_THAT(error->what(), HasSubstr("rank 2: broadcast: root 7 is not a rank of this communicator (size 3)"));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Fault, AnyExceptionInACallEndsItForTheOthersToo) {
  const auto ranks = test::run_ranks(2, [](Communicator& comm) {
    if (comm.rank() == 0) {
      EXPECT_THROW(comm.perform(call_of(Operation::gather, 8), {}, [] { throw std::bad_alloc(); }), std::bad_alloc);
      return;
    }
    const auto error = error_of([&] {
      comm.perform(call_of(Operation::gather, 8), {}, [&] {
        std::vector<std::byte> data(8);
        comm.recv(0, data);
      });
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::broken);
    EXPECT_THAT(error->what(), HasSubstr("bad_alloc"));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Fault, OthersErrorsAreToldWithOnesOwnRankAndCall) {
  const auto result = launch(3, [](Session& session) {
    Communicator& comm = session.world();
    if (comm.rank() == 1) return;
    // Rank 2 waits for rank 0, which waits for rank 1, which is gone.
    comm.perform(call_of(Operation::gather, 8), {}, [&] {
      std::vector<std::byte> data(8);
      comm.recv(comm.rank() == 0 ? 1 : 0, data);
    });
  });
  const std::string found = "rank 0: peer 1 lost in gather (linear, step 1): it left";
  EXPECT_EQ(result.ranks[0].error, found);
  // Rank 2 is told by rank 0, or sees that the job was ended: in its own name either way.
  EXPECT_THAT(result.ranks[2].error,
              AllOf(StartsWith("rank 2: "), HasSubstr("peer 1 lost in gather (linear"), EndsWith("it left")));
}

TEST(Fault, PeerWhoseProcessIsGoneIsLostWhoeverItsParentWas) {
  // No launcher here: the test itself is the wrapper that outlives rank 1.
  const JobSegment segment = JobSegment::create({.ranks = 2, .heap_bytes = 4096});
  const pid_t rank_1 = fork();
  if (rank_1 == 0) {
    const auto* session = new Session(segment, 1);  // Never left.
    _exit(session == nullptr ? 1 : 0);
  }
  waitpid(rank_1, nullptr, 0);
  Session session(segment, 0);
  const auto error = error_of([&] {
    session.world().perform(call_of(Operation::gather, 8), {}, [&] {
      std::vector<std::byte> data(8);
      session.world().recv(1, data);
    });
  });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::peer_lost);
  EXPECT_EQ(std::string(error->what()), "rank 0: peer 1 lost in gather (linear, step 1): its process is gone");
}

}  // namespace
}  // namespace shoal

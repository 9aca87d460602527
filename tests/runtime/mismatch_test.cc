#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "shoal/runtime/communicator.h"
#include "shoal/runtime/simulation.h"
#include "support/run_ranks.h"

// Calls that do not fit together and that no message shows: found by those who wait, or when a rank leaves.

namespace shoal {
namespace {

using ::testing::AllOf;
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

template <class Body>
std::optional<Error> error_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
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
  EXPECT_THAT(error->what(), AllOf(HasSubstr("count 4, root 0)"), HasSubstr("count 4, root 1)")));
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
  EXPECT_THAT(result.ranks[0].error + result.ranks[1].error,
              AllOf(HasSubstr("mismatch"), HasSubstr("root 0)"), HasSubstr("root 1)")));
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
              "rank 1: mismatch: rank 1 left without receiving what rank 0 had sent it in broadcast (linear, i32, "
              "count 1, root 0)");
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
    EXPECT_THAT(error->what(), HasSubstr("broadcast (linear, i32, count 1, root"));
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

}  // namespace
}  // namespace shoal

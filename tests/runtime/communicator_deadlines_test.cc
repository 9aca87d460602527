#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "byte_calls.h"
#include "support/errors.h"
#include "support/run_ranks.h"

// How long a call may wait, on real ranks.

namespace shoal {
namespace {

using std::chrono::milliseconds;
using test::call_of;
using test::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Deadline, DeadlineThatPassesNamesWhoWasWaitedForAndBreaksTheCommunicatorForAll) {
  const auto ranks = test::run_ranks(2, [](Communicator& comm) {
    if (comm.rank() == 0) {
      const auto error = error_of([&] {
        comm.perform(call_of(Operation::gather, 8), milliseconds(50), [&] {
          std::vector<std::byte> data(8);
          comm.recv(1, data);
        });
      });
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->code(), ErrorCode::timeout);
      EXPECT_EQ(error->peer(), 1);
      EXPECT_THAT(error->what(), AllOf(HasSubstr("rank 0: timeout after"), HasSubstr("in gather (linear, step 1)"),
                                       HasSubstr("waiting for peer 1")));
      const auto again = error_of([&] { comm.perform(call_of(Operation::barrier), {}, [] {}); });
      ASSERT_TRUE(again.has_value());
      EXPECT_EQ(again->code(), ErrorCode::broken);
      EXPECT_THAT(again->what(), HasSubstr(error->what()));
    } else {
      // Rank 1 waits in the same call, without a deadline: the other's error ends it.
      const auto error = error_of([&] {
        comm.perform(call_of(Operation::gather, 8), {}, [&] {
          std::vector<std::byte> data(8);
          comm.recv(0, data);
        });
      });
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->code(), ErrorCode::broken);
      EXPECT_THAT(error->what(), HasSubstr("rank 0: timeout after"));
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Deadline, TimeoutBelowZeroIsRefused) {
  const auto ranks = test::run_ranks(1, [](Communicator& comm) {
    const auto error = error_of([&] { comm.perform(call_of(Operation::barrier), milliseconds(-5), [] {}); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
    EXPECT_EQ(std::string(error->what()), "rank 0: barrier: a timeout of -5 ms: it is 0, for no limit, or more");
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Deadline, TimeoutInTheEnvironmentIsTheDefault) {
  ASSERT_EQ(setenv("SHOAL_TIMEOUT", "40ms", 1), 0);
  const auto result = launch(2, [](Session& session) {
    Communicator& comm = session.world();
    comm.perform(call_of(Operation::gather, 8), {}, [&] {
      std::vector<std::byte> data(8);
      comm.recv(1 - comm.rank(), data);
    });
  });
  ASSERT_EQ(setenv("SHOAL_TIMEOUT", "soon", 1), 0);
  const auto refused = launch(1, [](Session&) {});
  unsetenv("SHOAL_TIMEOUT");
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_THAT(result.ranks[0].error + result.ranks[1].error, HasSubstr("timeout after"));
  EXPECT_THAT(refused.ranks[0].error, HasSubstr("SHOAL_TIMEOUT=soon is not a duration"));
}

}  // namespace
}  // namespace shoal

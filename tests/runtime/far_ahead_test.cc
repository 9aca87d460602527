#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "shoal/runtime/communicator.h"
#include "shoal/runtime/simulation.h"
#include "support/errors.h"
#include "support/run_ranks.h"

// Calls that do not fit together, found when the one that made the other is hundreds of calls further on, more than its
// rank keeps on record: a root that only sends does not wait.

namespace shoal {
namespace {

using test::error_of;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr int kFarAhead = 1000;

/// On real ranks: one tells the others, besides their communicator, that it has come somewhere.
class Milestone {
 public:
  Milestone() { EXPECT_EQ(pipe(ends_.data()), 0); }
  Milestone(const Milestone&) = delete;
  Milestone& operator=(const Milestone&) = delete;
  ~Milestone() {
    for (const int end : ends_) close(end);
  }

  void reached() const { EXPECT_EQ(write(ends_[1], "!", 1), 1); }
  void await() const {
    pollfd end{.fd = ends_[0], .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&end, 1, 30'000), 1);
  }

 private:
  std::array<int, 2> ends_{};
};

/// Runs the body on real ranks and in simulation, where ranks go on until they wait: there no milestone is needed.
void run_on_both(int ranks, const std::function<void(Communicator&, const Milestone*)>& body,
                 std::uint64_t simulated_channel_bytes = std::uint64_t{64} << 10) {
  const Milestone milestone;
  const auto real = test::run_ranks(ranks, [&](Communicator& comm) { body(comm, &milestone); });
  EXPECT_TRUE(real.checks_passed()) << real;
  const auto simulated =
      simulate(ranks, [&](Communicator& comm) { body(comm, nullptr); },
               {.schedule = SimulationOptions::Schedule::in_order, .channel_bytes = simulated_channel_bytes});
  EXPECT_TRUE(simulated.ok()) << simulated;
  EXPECT_EQ(simulated.deadlock, "");
}

Call call(Operation operation, int root, std::uint64_t count = 1) {
  return {.operation = operation, .algorithm = Algorithm::linear, .type = DataType::i32, .root = root, .count = count};
}

/// Rank 0 is the root of many broadcasts and goes to a barrier. Rank 1, which comes when all are on the way, makes
/// `fitting` of them and then a call of its own, which receives from rank 0.
void expect_text(int fitting, const Call& theirs, const Call& ours, const std::string& text) {
  run_on_both(2, [&](Communicator& comm, const Milestone* milestone) {
    std::vector<std::byte> data(theirs.count * 4);
    const auto error = error_of([&] {
      if (comm.rank() == 0) {
        for (int i = 0; i < kFarAhead; ++i)
          comm.perform(i == fitting ? theirs : call(Operation::broadcast, 0, theirs.count), {},
                       [&] { comm.send(1, data); });
        if (milestone != nullptr) milestone->reached();
        comm.perform({.operation = Operation::barrier, .algorithm = Algorithm::dissemination}, {},
                     [&] { comm.exchange(1, {}, 1, {}); });
        return;
      }
      if (milestone != nullptr) milestone->await();
      for (int i = 0; i < fitting; ++i)
        comm.perform(call(Operation::broadcast, 0, theirs.count), {}, [&] { comm.recv(0, data); });
      comm.perform(ours, {}, [&] { comm.recv(0, data); });
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::mismatch);
    EXPECT_THAT(error->what(), comm.rank() == 1 ? testing::Matcher<const char*>(testing::StrEq("rank 1: " + text))
                                                : testing::Matcher<const char*>(EndsWith("rank 1: " + text)));
  });
}

TEST(FarAhead, MessageNamesTheCallThatSentItThoughItIsOffTheRecord) {
  expect_text(
      0, call(Operation::broadcast, 0), call(Operation::scatter, 0),
      "mismatch: this rank is in call 1, scatter (linear, i32, count 1, root 0), peer 0 was in a call no longer "
      "on record, broadcast (linear, i32, root 0), from which 4 bytes came");
}

TEST(FarAhead, MessageOfALaterCallTooAndOfAnyKind) {
  // 60 bytes do not fit a line, so that all went through the ring.
  const Call reduce{.operation = Operation::reduce,
                    .algorithm = Algorithm::binomial,
                    .type = DataType::bf16,
                    .reduce_op = ReduceOp::bxor,
                    .root = 1,
                    .count = 15};
  expect_text(500, reduce, call(Operation::broadcast, 0, 15),
              "mismatch: this rank is in call 501, broadcast (linear, i32, count 15, root 0), peer 0 was in a call no "
              "longer on record, reduce (binomial, bf16 bxor, root 1), from which 60 bytes came");
}

TEST(FarAhead, CountsThatDifferShowInTheBytes) {
  expect_text(
      3, call(Operation::broadcast, 0, 9), call(Operation::broadcast, 0, 8),
      "mismatch: this rank is in call 4, broadcast (linear, i32, count 8, root 0), peer 0 was in a call no longer "
      "on record, broadcast (linear, i32, root 0), from which 36 bytes came");
}

TEST(FarAhead, MessageFromPointToPointIsNamedWithItsCount) {
  run_on_both(2, [](Communicator& comm, const Milestone* milestone) {
    const std::vector<std::byte> data(20);
    const auto error = error_of([&] {
      if (comm.rank() == 0) {
        comm.perform({.operation = Operation::send, .type = DataType::f32, .count = 5}, {},
                     [&] { comm.send(1, data); });
        for (int i = 0; i < kFarAhead; ++i)
          comm.perform(call(Operation::broadcast, 0, 5), {}, [&] { comm.send(1, data); });
        if (milestone != nullptr) milestone->reached();
        comm.perform({.operation = Operation::barrier, .algorithm = Algorithm::dissemination}, {},
                     [&] { comm.exchange(1, {}, 1, {}); });
        return;
      }
      if (milestone != nullptr) milestone->await();
      std::vector<std::byte> in(20);
      comm.perform(call(Operation::broadcast, 0, 5), {}, [&] { comm.recv(0, in); });
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::mismatch);
    EXPECT_THAT(
        error->what(),
        HasSubstr("rank 1: mismatch: this rank is in call 1, broadcast (linear, i32, count 5, root 0), peer 0 was "
                  "in a call no longer on record, send or exchange (auto, f32, count 5)"));
  });
}

TEST(FarAhead, UnreadMessageIsNamedToo) {
  const auto body = [](Communicator& comm) {
    for (int i = 0; comm.rank() == 0 && i < kFarAhead; ++i)
      comm.perform(call(Operation::broadcast, 0), {}, [&] { comm.send(1, std::vector<std::byte>(4)); });
  };
  const auto simulated = simulate(2, body);
  EXPECT_EQ(simulated.ranks[1].error,
            "rank 1: mismatch: rank 1 left without receiving what rank 0 had sent it in a call no longer on record, "
            "broadcast (linear, i32, root 0), from which 4 bytes came");
}

// Ranks 0 and 2 are far on without a message to rank 1, which waits for rank 2; and in the end rank 2 waits for rank 1.
// Neither has the other's call on record, and no message meets another.
TEST(FarAhead, WaitForWhoHasLeftTheCallBehindIsAMismatch) {
  run_on_both(3, [](Communicator& comm, const Milestone* milestone) {
    std::vector<std::byte> data(4);
    const auto error = error_of([&] {
      if (comm.rank() == 1) {
        if (milestone != nullptr) milestone->await();
        comm.perform(call(Operation::scatter, 2), {}, [&] { comm.recv(2, data); });
        return;
      }
      for (int i = 0; i < kFarAhead; ++i)
        comm.perform(call(Operation::broadcast, 0), {},
                     [&] { comm.rank() == 0 ? comm.send(2, data) : comm.recv(0, data); });
      if (milestone != nullptr && comm.rank() == 2) milestone->reached();
      comm.perform(call(Operation::gather, 2), {}, [&] {
        if (comm.rank() == 0) return comm.send(2, data);
        comm.recv(0, data);
        comm.recv(1, data);
      });
      comm.perform(call(Operation::broadcast, 2), {}, [&] { comm.recv(2, data); });
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::mismatch);
    EXPECT_THAT(error->what(),
                HasSubstr("rank 1: mismatch: this rank is in call 1, scatter (linear, i32, count 1, root 2), "
                          "which peer 2 has left behind: it is in call 1001, gather (linear, i32, count 1, "
                          "root 2)"));
  });
}

// The same where rank 1 sends, and finds no room.
TEST(FarAhead, SendingToWhoHasLeftTheCallBehindIsAMismatch) {
  const auto body = [](Communicator& comm, const Milestone* milestone) {
    const std::vector<std::byte> much(std::size_t{1} << 20);
    std::vector<std::byte> data(4);
    const auto error = error_of([&] {
      if (comm.rank() == 1) {
        if (milestone != nullptr) milestone->await();
        comm.perform(call(Operation::gather, 2), {}, [&] { comm.send(2, much); });
        return;
      }
      for (int i = 0; i < kFarAhead; ++i)
        comm.perform(call(Operation::broadcast, 0), {},
                     [&] { comm.rank() == 0 ? comm.send(2, data) : comm.recv(0, data); });
      if (milestone != nullptr && comm.rank() == 2) milestone->reached();
      // Rank 2 waits for rank 0, which waits for rank 1.
      comm.perform(call(Operation::scatter, 1), {}, [&] { comm.recv(comm.rank() == 0 ? 1 : 0, data); });
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::mismatch);
    EXPECT_THAT(error->what(),
                HasSubstr("rank 1: mismatch: this rank is in call 1, gather (linear, i32, count 1, root 2), "
                          "which peer 2 has left behind: it is in call 1001, scatter (linear, i32, count 1, "
                          "root 1)"));
  };
  run_on_both(3, body);
  run_on_both(3, body, 16);
}

}  // namespace
}  // namespace shoal

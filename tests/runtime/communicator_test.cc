#include "shoal/runtime/communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "mapping.h"
#include "support/run_ranks.h"

// The byte-level members, on real ranks, and what becomes of a call when another rank does not play its part.

namespace shoal {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr LaunchOptions kSmallChannel{.channel_bytes = 256, .heap_bytes = 4096};

std::vector<std::byte> content(int from, int to, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<std::byte>((static_cast<std::size_t>(from * 64 + to * 8) + i * 3 + (i >> 8)) & 0xff);
  }
  return data;
}

Call call_of(Operation operation, std::uint64_t count = 0) {
  return {.operation = operation, .algorithm = Algorithm::linear, .count = count};
}

// What `body` throws, or nothing.
template <class Body>
std::optional<Error> error_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

TEST(Communicator, ExchangeOfAnySizeThroughASmallChannelDoesNotDeadlock) {
  for (const int size : {2, 3, 5}) {
    const auto ranks = test::run_ranks(
        size,
        [](Communicator& comm) {
          const int right = (comm.rank() + 1) % comm.size();
          const int left = (comm.rank() + comm.size() - 1) % comm.size();
          for (const std::size_t bytes : {0U, 1U, 15U, 16U, 40U, 41U, 255U, 256U, 257U, 4096U, 100'001U}) {
            std::vector<std::byte> in(bytes);
            comm.perform(call_of(Operation::all_gather, bytes), {},
                         [&] { comm.exchange(right, content(comm.rank(), right, bytes), left, in); });
            EXPECT_EQ(in, content(left, comm.rank(), bytes)) << bytes << " bytes";
          }
        },
        kSmallChannel);
    EXPECT_TRUE(ranks.all_passed()) << ranks;
  }
}

TEST(Communicator, ExchangeWithOneselfAsBothNeighboursIsAskedOfTwoRanksOnly) {
  const auto ranks = test::run_ranks(2, [](Communicator& comm) {
    const int peer = 1 - comm.rank();  // Both the right and the left neighbour.
    std::vector<std::byte> in(1000);
    comm.perform(call_of(Operation::all_gather, 1000), {},
                 [&] { comm.exchange(peer, content(comm.rank(), peer, 1000), peer, in); });
    EXPECT_EQ(in, content(peer, comm.rank(), 1000));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Communicator, FoldCombinesEveryElementOnceWhateverThePieces) {
  const auto ranks = test::run_ranks(
      2,
      [](Communicator& comm) {
        const Fold add{.function =
                           [](std::byte* into, const std::byte* incoming, std::size_t bytes) {
                             for (std::size_t i = 0; i < bytes; i += 8) {
                               std::uint64_t a = 0;
                               std::uint64_t b = 0;
                               std::memcpy(&a, into + i, 8);
                               std::memcpy(&b, incoming + i, 8);
                               a += b;
                               std::memcpy(into + i, &a, 8);
                             }
                           },
                       .element_bytes = 8};
        for (const std::size_t count : {1U, 5U, 6U, 31U, 1001U}) {
          std::vector<std::uint64_t> mine(count);
          std::vector<std::uint64_t> sum(count);
          for (std::size_t i = 0; i < count; ++i) {
            mine[i] = 1'000'000 * static_cast<std::uint64_t>(comm.rank() + 1) + i;
            sum[i] = 7 * i;
          }
          const int peer = 1 - comm.rank();
          comm.perform(call_of(Operation::reduce_scatter, count), {}, [&] {
            comm.exchange_fold(peer, std::as_bytes(std::span(mine)), peer, std::as_writable_bytes(std::span(sum)), add);
          });
          for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(sum[i], 7 * i + 1'000'000 * static_cast<std::uint64_t>(peer + 1) + i);
          }
        }
      },
      kSmallChannel);
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Communicator, LedgerCountsPayloadByOperationAndAlgorithmAndNothingElse) {
  const auto ranks = test::run_ranks(3, [](Communicator& comm) {
    const Traffic before = comm.traffic();
    EXPECT_EQ(before, Traffic{});
    // Rank 0 sends 100 bytes to each of the others in one call, and nothing in another.
    comm.perform(call_of(Operation::scatter, 100), {}, [&] {
      std::vector<std::byte> data(100);
      if (comm.rank() == 0) {
        comm.send(1, data);
        comm.send(2, data);
      } else {
        comm.recv(0, data);
      }
    });
    comm.perform(call_of(Operation::barrier), {}, [&] {
      if (comm.rank() == 0) {
        comm.recv(1, {});
      } else if (comm.rank() == 1) {
        comm.send(0, {});
      }
    });
    const std::uint64_t sent = comm.rank() == 0 ? 200 : 0;
    const std::uint64_t received = comm.rank() == 0 ? 0 : 100;
    const Traffic expected{.sent = sent,
                           .received = received,
                           .by_op = {{"scatter", {1, sent, received}}, {"barrier", {1, 0, 0}}},
                           .by_algorithm = {{"scatter:linear", {1, sent, received}}, {"barrier:linear", {1, 0, 0}}}};
    EXPECT_EQ(comm.traffic() - before, expected);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Communicator, WhatALeavingRankHadSentIsStillRead) {
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

TEST(Communicator, WaitingForARankThatLeftIsAnErrorThatNamesIt) {
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

TEST(Communicator, SendingMoreThanTheChannelTakesToARankThatLeftIsAnErrorToo) {
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

TEST(Communicator, KilledPeerEndsEveryWaitAndIsNamedWithItsSignal) {
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

TEST(Communicator, DeadlineThatPassesNamesWhoWasWaitedForAndBreaksTheCommunicatorForAll) {
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

TEST(Communicator, CallsThatDoNotFitTogetherAreReportedWithBothSides) {
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

TEST(Communicator, CountsTypesReductionsAndRootsThatDifferAreMismatches) {
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

TEST(Communicator, MessageOfAnotherSizeThanExpectedIsAMismatch) {
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

TEST(Communicator, RefusalOnOneRankReachesTheOthersWithItsText) {
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

TEST(Communicator, AnyExceptionInACallEndsItForTheOthersToo) {
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

TEST(Communicator, OthersErrorsAreToldWithOnesOwnRankAndCall) {
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

TEST(Communicator, PeerWhoseProcessIsGoneIsLostWhoeverItsParentWas) {
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

TEST(Communicator, TimeoutBelowZeroIsRefused) {
  const auto ranks = test::run_ranks(1, [](Communicator& comm) {
    const auto error = error_of([&] { comm.perform(call_of(Operation::barrier), milliseconds(-5), [] {}); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
    EXPECT_EQ(std::string(error->what()), "rank 0: barrier: a timeout of -5 ms: it is 0, for no limit, or more");
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Communicator, TimeoutInTheEnvironmentIsTheDefault) {
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
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.ranks[0].error + result.ranks[1].error, HasSubstr("timeout after"));
  EXPECT_THAT(refused.ranks[0].error, HasSubstr("SHOAL_TIMEOUT=soon is not a duration"));
}

TEST(Communicator, MoreRanksThanCoresPassMessagesAroundWithoutStanding) {
  const auto ranks = test::run_ranks(16, [](Communicator& comm) {
    const int right = (comm.rank() + 1) % comm.size();
    const int left = (comm.rank() + comm.size() - 1) % comm.size();
    std::vector<std::byte> out = content(comm.rank(), 0, 64);
    std::vector<std::byte> in(64);
    for (int turn = 0; turn < 16 * 20; ++turn) {
      comm.perform(call_of(Operation::all_gather, 64), {}, [&] { comm.exchange(right, out, left, in); });
      std::swap(in, out);
    }
    EXPECT_EQ(out, content(comm.rank(), 0, 64));  // Twenty times around.
    EXPECT_EQ(comm.traffic().sent, 16U * 20 * 64);
    EXPECT_EQ(comm.traffic().received, 16U * 20 * 64);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal

#include "shoal/runtime/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "byte_calls.h"

namespace shoal {
namespace {

using std::chrono::nanoseconds;
using test::call_of;
using test::content;
using ::testing::AllOf;
using ::testing::HasSubstr;

void pass_around(Communicator& comm, std::size_t bytes) {
  const int right = (comm.rank() + 1) % comm.size();
  const int left = (comm.rank() + comm.size() - 1) % comm.size();
  std::vector<std::byte> in(bytes);
  comm.perform(call_of(Operation::all_gather, bytes), {},
               [&] { comm.exchange(right, content(comm.rank(), 0, bytes), left, in); });
  EXPECT_EQ(in, content(left, 0, bytes));
}

TEST(Simulation, ExchangesArriveWholeAtEveryCapacityAndSeed) {
  for (const std::uint64_t channel : {0U, 16U, 64U, 4096U}) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const auto result = simulate(5,
                                   [](Communicator& comm) {
                                     for (const std::size_t bytes : {0U, 1U, 16U, 100U, 1000U}) {
                                       pass_around(comm, bytes);
                                     }
                                   },
                                   {.seed = seed, .channel_bytes = channel});
      ASSERT_TRUE(result.ok()) << result;
      for (const auto& rank : result.ranks) {
        ASSERT_EQ(rank.traffic.sent, 1117U);
        ASSERT_EQ(rank.traffic.received, 1117U);
        ASSERT_EQ(rank.messages, 5U);
        ASSERT_EQ(rank.steps, 5U);
      }
    }
  }
}

TEST(Simulation, FoldedPiecesAreWholeElements) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto result = simulate(2,
                                 [&](Communicator& comm) {
                                   std::vector<std::uint64_t> mine(101);
                                   std::vector<std::uint64_t> sum(101);
                                   for (std::size_t i = 0; i < 101; ++i) {
                                     mine[i] = 1000 * static_cast<std::uint64_t>(comm.rank() + 1) + i;
                                     sum[i] = 5 * i;
                                   }
                                   const int peer = 1 - comm.rank();
                                   comm.perform(call_of(Operation::reduce_scatter, 101), {}, [&] {
                                     comm.exchange_fold(peer, std::as_bytes(std::span(mine)), peer,
                                                        std::as_writable_bytes(std::span(sum)), test::kAddU64);
                                   });
                                   for (std::size_t i = 0; i < 101; ++i) {
                                     ASSERT_EQ(sum[i], 6 * i + 1000 * static_cast<std::uint64_t>(peer + 1));
                                   }
                                 },
                                 {.seed = seed, .channel_bytes = 48});
    ASSERT_TRUE(result.ok()) << result;
  }
}

// Which of three ranks speaks first is the schedule's choice.
std::string order_of(std::uint64_t seed) {
  std::string order;
  const auto result = simulate(3,
                               [&order](Communicator& comm) {
                                 for (int i = 0; i < 5; ++i) {
                                   order += static_cast<char>('0' + comm.rank());
                                   pass_around(comm, 40);
                                 }
                               },
                               {.seed = seed, .channel_bytes = 16});
  EXPECT_TRUE(result.ok()) << result;
  return order;
}

TEST(Simulation, SameSeedGivesTheSameScheduleAndOthersGiveOthers) {
  EXPECT_EQ(order_of(7), order_of(7));
  bool differs = false;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    differs = differs || order_of(seed) != order_of(7);
  }
  EXPECT_TRUE(differs);
}

TEST(Simulation, SendsThatAllComeFirstDeadlockBeyondTheCapacityAndEveryBlockedRankIsNamed) {
  const auto all_send_first = [](Communicator& comm) {
    const int right = (comm.rank() + 1) % comm.size();
    const int left = (comm.rank() + comm.size() - 1) % comm.size();
    std::vector<std::byte> data(100);
    comm.perform(call_of(Operation::all_gather, 100), {}, [&] {
      comm.send(right, data);
      comm.recv(left, data);
    });
  };
  EXPECT_TRUE(simulate(3, all_send_first, {.channel_bytes = 112}).ok());
  for (const std::uint64_t channel : {0U, 96U}) {
    const auto result = simulate(3, all_send_first, {.channel_bytes = channel});
    EXPECT_FALSE(result.ok());
    EXPECT_THAT(result.deadlock, AllOf(HasSubstr("rank 0 in all_gather (linear, step 1) waits to send to rank 1"),
                                       HasSubstr("rank 1 in all_gather (linear, step 1) waits to send to rank 2"),
                                       HasSubstr("rank 2 in all_gather (linear, step 1) waits to send to rank 0")));
    for (const auto& rank : result.ranks) {
      EXPECT_THAT(rank.error, HasSubstr("deadlock"));
    }
  }
}

TEST(Simulation, RendezvousMovesNothingBeforeTheReceiverIsThere) {
  // Rank 0 sends, even nothing at all, before it says that rank 1 may receive: at capacity 0 it never gets so far.
  const auto body = [](Communicator& comm) {
    std::vector<std::byte> byte(1);
    comm.perform(call_of(Operation::all_to_all), {}, [&] {
      if (comm.rank() == 0) {
        comm.send(1, {});
        comm.send(2, byte);
      } else if (comm.rank() == 2) {
        comm.recv(0, byte);
        comm.send(1, byte);
      } else {
        comm.recv(2, byte);
        comm.recv(0, {});
      }
    });
  };
  EXPECT_TRUE(simulate(3, body, {.channel_bytes = 16}).ok());
  EXPECT_THAT(simulate(3, body, {.channel_bytes = 0}).deadlock, HasSubstr("rank 0 in all_to_all (linear, step 1)"));
}

TEST(Simulation, PeerThatLeftOrThrewIsReportedToWhoeverWaitsForIt) {
  const auto left = simulate(2, [](Communicator& comm) {
    if (comm.rank() == 1) {
      std::vector<std::byte> data(8);
      comm.perform(call_of(Operation::gather, 8), {}, [&] { comm.recv(0, data); });
    }
  });
  EXPECT_EQ(left.ranks[1].error, "rank 1: peer 0 lost in gather (linear, step 1): it left");
  const auto threw = simulate(2, [](Communicator& comm) {
    std::vector<std::byte> data(8);
    comm.perform(call_of(Operation::gather, 8), {}, [&] {
      if (comm.rank() == 0) {
        throw std::runtime_error("no luck");
      }
      comm.recv(0, data);
    });
  });
  EXPECT_EQ(threw.ranks[0].error, "no luck");
  EXPECT_EQ(threw.ranks[1].error_code, ErrorCode::broken);
  EXPECT_THAT(threw.ranks[1].error, HasSubstr("no luck"));
}

TEST(Simulation, CallsThatDoNotFitAreReportedWithBothSides) {
  const auto result = simulate(2, [](Communicator& comm) {
    std::vector<std::byte> in(8);
    comm.perform(call_of(Operation::all_gather, comm.rank() == 0 ? 2 : 3), {},
                 [&] { comm.exchange(1 - comm.rank(), std::vector<std::byte>(8), 1 - comm.rank(), in); });
  });
  for (const auto& rank : result.ranks) {
    EXPECT_EQ(rank.error_code, ErrorCode::mismatch);
    EXPECT_THAT(rank.error, AllOf(HasSubstr("count 2"), HasSubstr("count 3")));
  }
}

TEST(Simulation, DeathAtAnyPointIsTheSameErrorForAllOthersAndNeverADeadlock) {
  const auto body = [](Communicator& comm) {
    for (int i = 0; i < 3; ++i) {
      pass_around(comm, 100);
    }
  };
  const auto whole = simulate(3, body, {.seed = 3, .channel_bytes = 32});
  ASSERT_TRUE(whole.ok());
  for (std::uint64_t point = 1; point <= whole.ranks[1].scheduling_points; ++point) {
    const auto result = simulate(3, body, {.seed = 3, .channel_bytes = 32, .death = {{.rank = 1, .point = point}}});
    EXPECT_TRUE(result.ranks[1].died);
    EXPECT_EQ(result.deadlock, "");
    for (const std::size_t survivor : {0U, 2U}) {
      // It may have been done already with all that it needed of the dead one.
      if (!result.ranks[survivor].error.empty()) {
        EXPECT_EQ(result.ranks[survivor].error_code, ErrorCode::peer_lost);
        EXPECT_THAT(result.ranks[survivor].error, HasSubstr("peer 1 lost in all_gather"));
      }
    }
  }
}

TEST(Simulation, ClocksFollowLatencyAndBandwidth) {
  // 1,000 bytes at 1 GB/s keep the sender busy for 1 us and are there 500 ns later; rank 1 passes them on.
  const auto result = simulate(3,
                               [](Communicator& comm) {
                                 std::vector<std::byte> data(1000);
                                 comm.perform(call_of(Operation::broadcast, 1000), {}, [&] {
                                   if (comm.rank() > 0) {
                                     comm.recv(comm.rank() - 1, data);
                                   }
                                   if (comm.rank() < 2) {
                                     comm.send(comm.rank() + 1, data);
                                   }
                                 });
                               },
                               {.latency = nanoseconds(500), .bytes_per_second = 1e9});
  EXPECT_EQ(result.ranks[0].clock, nanoseconds(1000));
  EXPECT_EQ(result.ranks[1].clock, nanoseconds(2500));
  EXPECT_EQ(result.ranks[2].clock, nanoseconds(3000));
  EXPECT_EQ(result.time(), nanoseconds(3000));
}

TEST(Simulation, PhantomBuffersAreCountedButNeverTouched) {
  const std::size_t huge = std::size_t{1} << 40;
  auto* nowhere = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 44);
  const auto result =
      simulate(64,
               [&](Communicator& comm) {
                 comm.perform(call_of(Operation::all_gather, huge), {}, [&] {
                   comm.exchange((comm.rank() + 1) % 64, {nowhere, huge}, (comm.rank() + 63) % 64, {nowhere, huge});
                 });
               },
               {.schedule = SimulationOptions::Schedule::in_order,
                .channel_bytes = SimulationOptions::kUnbounded,
                .phantom = true});
  ASSERT_TRUE(result.ok()) << result;
  EXPECT_EQ(result.ranks[63].traffic.sent, huge);
  EXPECT_EQ(result.ranks[63].traffic.received, huge);
}

TEST(Simulation, WorldsThatCannotBeAreRefused) {
  EXPECT_THROW(simulate(0, [](Communicator&) {}), Error);
  EXPECT_THROW(simulate(2, [](Communicator&) {}, {.death = {{.rank = 2}}}), Error);
}

TEST(Simulation, ExceptionsBeingHandledStayWithTheirRank) {
  // Each rank exchanges while it handles an exception: the handlers interleave, each must find its own.
  const auto result = simulate(4, [](Communicator& comm) {
    for (int i = 0; i < 20; ++i) {
      const std::string mine = std::to_string(comm.rank() * 100 + i);
      try {
        throw std::runtime_error(mine);
      } catch (const std::runtime_error&) {
        pass_around(comm, 40);
        try {
          throw;
        } catch (const std::runtime_error& again) {
          EXPECT_EQ(again.what(), mine);
        }
      }
    }
  });
  EXPECT_TRUE(result.ok()) << result;
}

TEST(Simulation, OptionsThatCannotBeAreRefusedByName) {
  const auto refusal = [](const SimulationOptions& options) -> std::string {
    try {
      simulate(
          2, [](Communicator&) {}, options);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument ? error.what() : "another code";
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(refusal({.bytes_per_second = 0}), HasSubstr("bytes_per_second 0"));
  EXPECT_THAT(refusal({.bytes_per_second = -1}), HasSubstr("bytes_per_second -1"));
  EXPECT_THAT(refusal({.latency = nanoseconds(-5)}), HasSubstr("latency -5 ns"));
  EXPECT_THAT(refusal({.death = SimulationOptions::Death{.rank = 1, .point = 0}}), HasSubstr("death.point 0"));
  EXPECT_THAT(refusal({.stack_bytes = 0}), HasSubstr("stack_bytes 0"));
}

TEST(Simulation, WhateverLeavesABodyIsThatRanksFailureAlone) {
  const auto result = simulate(2, [](Communicator& comm) {
    if (comm.rank() == 1) throw 5;  // NOLINT: no exception of the standard's.
  });
  EXPECT_EQ(result.ranks[0].error, "");
  EXPECT_EQ(result.ranks[1].error, "rank 1: something that is no std::exception left the body");
}

}  // namespace
}  // namespace shoal

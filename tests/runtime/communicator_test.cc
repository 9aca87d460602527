#include "shoal/runtime/communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory_resource>
#include <vector>

#include "byte_calls.h"
#include "support/run_ranks.h"

// The byte-level members, on real ranks.

namespace shoal {
namespace {

using test::call_of;
using test::content;

constexpr LaunchOptions kSmallChannel{.channel_bytes = 256, .heap_bytes = 4096};

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

// Rank 1 takes rank 0's messages only once rank 2 has told it to, which waits for rank 0 to have sent them all.
TEST(Communicator, SendsUpToAChannelsBytesBeforeTheReceiverComes) {
  constexpr std::array<std::size_t, 6> kBytes{2047, 2048, 4096, 32'768, 65'536, 100'001};  // 206,496 in all.
  for (const bool in_heap : {false, true}) {
    const auto ranks = test::run_sessions(
        3,
        [&](Session& session) {
          Communicator& comm = session.world();
          const auto memory = in_heap ? session.heap() : std::pmr::get_default_resource();
          const auto message = [&](std::size_t bytes) {
            const auto bytes_of_it = content(0, 1, bytes);
            return std::pmr::vector<std::byte>(bytes_of_it.begin(), bytes_of_it.end(), memory);
          };
          const auto pass_on = [&](int from, int to) {
            std::array<std::byte, 1> token{};
            if (from >= 0) comm.recv(from, token);
            if (to >= 0) comm.send(to, token);
          };
          for (int turn = 0; turn < 20; ++turn) {
            comm.perform(call_of(Operation::all_gather, 1), {}, [&] {
              if (comm.rank() == 0) {
                for (const std::size_t bytes : kBytes) {
                  auto out = message(bytes);
                  comm.send(1, out);
                  std::ranges::fill(out, std::byte{0});  // It is this rank's again.
                }
                pass_on(-1, 2);
              } else if (comm.rank() == 2) {
                pass_on(0, 1);
              } else {
                pass_on(2, -1);
                for (const std::size_t bytes : kBytes) {
                  std::pmr::vector<std::byte> in(bytes, memory);
                  comm.recv(0, in);
                  EXPECT_TRUE(std::ranges::equal(in, content(0, 1, bytes))) << bytes << " bytes, turn " << turn;
                }
              }
            });
          }
        },
        {.channel_bytes = 256 << 10, .heap_bytes = 1 << 20});
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
        for (const std::size_t count : {1U, 5U, 6U, 31U, 1001U}) {
          std::vector<std::uint64_t> mine(count);
          std::vector<std::uint64_t> sum(count);
          for (std::size_t i = 0; i < count; ++i) {
            mine[i] = 1'000'000 * static_cast<std::uint64_t>(comm.rank() + 1) + i;
            sum[i] = 7 * i;
          }
          const int peer = 1 - comm.rank();
          comm.perform(call_of(Operation::reduce_scatter, count), {}, [&] {
            comm.exchange_fold(peer, std::as_bytes(std::span(mine)), peer, std::as_writable_bytes(std::span(sum)),
                               test::kAddU64);
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

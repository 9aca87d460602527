#include "collective_checks.h"

namespace shoal::test {
namespace {

void expect_moved(const Communicator& comm, const Traffic& before, std::string_view operation, std::uint64_t sent,
                  std::uint64_t received) {
  const Traffic moved = comm.traffic() - before;
  EXPECT_EQ(moved.sent, sent);
  EXPECT_EQ(moved.received, received);
  ASSERT_EQ(moved.by_op.size(), 1U);
  EXPECT_EQ(moved.by_op.begin()->first, operation);
}

TEST(SendRecv, MovesAnySizeAndTypeAndCountsItAtBothEnds) {
  const auto ranks = run_ranks(
      2,
      [](Communicator& comm) {
        for_each_type(AllTypes{}, [&]<class T>() {
          for (const std::size_t count : {0U, 1U, 2U, 5U, 48U, 49U, 511U, 512U, 513U, 100'003U}) {
            SCOPED_TRACE(case_text(count, kDataType<T>));
            const Traffic before = comm.traffic();
            if (comm.rank() == 0) {
              send(comm, values_of<T>(7, count), 1);
              expect_moved(comm, before, "send", count * sizeof(T), 0);
            } else {
              auto in = blank<T>(count);
              recv(comm, in, 0);
              EXPECT_TRUE(same_bits(values_of<T>(7, count), in));
              expect_moved(comm, before, "recv", 0, count * sizeof(T));
            }
          }
        });
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(SendRecv, KeepsTheOrderOfMessages) {
  const auto ranks = run_ranks(
      3,
      [](Communicator& comm) {
        for (int i = 0; i < 500; ++i) {
          const auto count = static_cast<std::size_t>(i % 37);
          if (comm.rank() < 2) {
            send(comm, values_of<std::uint8_t>(1000 * comm.rank() + i, count), 2);
          } else {
            for (const int from : {1, 0}) {
              auto in = blank<std::uint8_t>(count);
              recv(comm, in, from);
              EXPECT_TRUE(same_bits(values_of<std::uint8_t>(1000 * from + i, count), in)) << "message " << i;
            }
          }
        }
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

class Exchange : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, Exchange, every_world(), world_name);

TEST_P(Exchange, OfAnySizeCompletesThoughAllSendFirst) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (int distance = 0; distance < comm.size(); ++distance) {
          const int to = (comm.rank() + distance) % comm.size();
          const int from = (comm.rank() + comm.size() - distance) % comm.size();
          for (const std::size_t count : {0U, 1U, 1024U, 1025U, 50'021U}) {
            SCOPED_TRACE(case_text(count, DataType::f32) + ", distance " + std::to_string(distance));
            const auto out = values_of<float>(comm.rank(), count);
            auto in = blank<float>(count);
            const Traffic before = comm.traffic();
            exchange(comm, out, to, in, from);
            EXPECT_TRUE(same_bits(values_of<float>(from, count), in));
            const std::uint64_t moved = distance == 0 ? 0 : 4 * count;
            expect_moved(comm, before, "exchange", moved, moved);
          }
        }
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Exchange, TakesMessagesOfDifferentSizesBothWays) {
  // Rank r sends r + 1 elements to the right: 0 > 1 > 2 > 0.
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    const int from = (comm.rank() + 2) % 3;
    auto in = blank<double>(static_cast<std::size_t>(from) + 1);
    const Traffic before = comm.traffic();
    exchange(comm, values_of<double>(comm.rank(), static_cast<std::size_t>(comm.rank()) + 1), (comm.rank() + 1) % 3, in,
             from);
    EXPECT_TRUE(same_bits(values_of<double>(from, in.size()), in));
    expect_moved(comm, before, "exchange", 8U * (static_cast<unsigned>(comm.rank()) + 1), 8 * in.size());
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Exchange, BetweenTwoCompletesAroundEveryPowerOfTwo) {
  const auto ranks = run_ranks(2, [](Communicator& comm) {
    for (std::size_t size = 1; size <= std::size_t{64} << 20; size *= 2) {
      for (const std::size_t bytes : {size - 1, size, size + 1}) {
        auto in = blank<std::uint8_t>(bytes);
        exchange(comm, values_of<std::uint8_t>(comm.rank(), bytes), 1 - comm.rank(), in, 1 - comm.rank());
        EXPECT_TRUE(same_bits(values_of<std::uint8_t>(1 - comm.rank(), bytes), in)) << bytes;
      }
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Exchange, MeetsPlainSendsAndReceives) {
  // A ring in which rank 0 does both at once and the others receive first, then send on: 0 > 1 > 2 > 0.
  for (const int world : {2, 3, 5}) {
    const auto ranks = run_ranks(
        world,
        [](Communicator& comm) {
          const int right = (comm.rank() + 1) % comm.size();
          const int left = (comm.rank() + comm.size() - 1) % comm.size();
          for (const std::size_t count : {0U, 1U, 1024U, 50'021U}) {
            // Each sends a length of its own.
            const auto out = values_of<float>(comm.rank(), count + static_cast<std::size_t>(comm.rank()));
            auto in = blank<float>(count + static_cast<std::size_t>(left));
            if (comm.rank() == 0) {
              exchange(comm, out, right, in, left);
            } else {
              recv(comm, in, left);
              send(comm, out, right);
            }
            EXPECT_TRUE(same_bits(values_of<float>(left, in.size()), in));
          }
        },
        small_channel());
    EXPECT_TRUE(ranks.all_passed()) << ranks;
  }
}

TEST(SendRecv, BothSendingFirstWaitOnlyBeyondTheChannelAndThenUntilTheTimeout) {
  const auto body = [](std::size_t bytes) {
    return [bytes](Communicator& comm) {
      auto in = blank<std::uint8_t>(bytes);
      send(comm, values_of<std::uint8_t>(comm.rank(), bytes), 1 - comm.rank());
      recv(comm, in, 1 - comm.rank());
      EXPECT_TRUE(same_bits(values_of<std::uint8_t>(1 - comm.rank(), bytes), in));
    };
  };
  ::setenv("SHOAL_TIMEOUT", "300ms", 1);
  const auto fits = run_ranks(2, body(2000), small_channel());
  const auto exceeds = run_ranks(2, body(10'000), small_channel());
  ::unsetenv("SHOAL_TIMEOUT");
  EXPECT_TRUE(fits.all_passed()) << fits;
  EXPECT_NE(exceeds.launch().exit_code, 0);
  // The first whose time is up says so; the other hears of it, or its own time is up.
  const auto timed_out = [](const RankOutcome& rank) { return rank.error.find("timeout") != std::string::npos; };
  EXPECT_TRUE(std::ranges::any_of(exceeds.launch().ranks, timed_out)) << exceeds;
  for (const RankOutcome& rank : exceeds.launch().ranks) EXPECT_NE(rank.error, "") << "rank " << rank.rank;
}

TEST(SendRecv, BothReceivingFirstWaitUntilTheTimeout) {
  ::setenv("SHOAL_TIMEOUT", "300ms", 1);
  const auto ranks = run_ranks(2, [](Communicator& comm) {
    auto in = blank<std::uint8_t>(1);
    recv(comm, in, 1 - comm.rank());
    ADD_FAILURE() << "received what nobody sent";
  });
  ::unsetenv("SHOAL_TIMEOUT");
  EXPECT_TRUE(ranks.checks_passed()) << ranks;
  // The text has the time that was waited in truth, which is no less than what was allowed.
  const auto timed_out = [](const RankOutcome& rank) {
    return rank.error.find(": timeout after") != std::string::npos &&
           rank.error.find(" in recv (") != std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(ranks.launch().ranks, timed_out)) << ranks;
  for (const RankOutcome& rank : ranks.launch().ranks) EXPECT_NE(rank.error, "") << "rank " << rank.rank;
}

}  // namespace
}  // namespace shoal::test

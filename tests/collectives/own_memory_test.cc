// Ranks that copy out of each other's own memory and into it: that they do, where the kernel lets them; and what
// becomes of them when one of them is killed.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "collective_checks.h"
#include "support/refuse_copying.h"

namespace shoal::test {
namespace {

constexpr std::size_t kMany = std::size_t{1} << 18;

/// Two calls: in the first one ranks find out, as they do by themselves where each has a core of its own.
void find_out(Communicator& comm) {
  for (int call = 0; call < 2; ++call) {
    comm.others_copy();
    std::vector<std::int32_t> data(kMany, comm.rank() == 0 ? call : -1);
    broadcast(comm, data, 0, {.algorithm = Algorithm::direct});
    EXPECT_EQ(std::ranges::count(data, call), static_cast<std::ptrdiff_t>(kMany));
  }
}

TEST(OwnMemory, IsCopiedWhereTheKernelAllowsIt) {
  if (!can_copy()) GTEST_SKIP() << "the kernel does not let processes copy out of each other's memory here";
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    EXPECT_FALSE(comm.others_copy());
    find_out(comm);
    EXPECT_TRUE(comm.others_copy());
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(OwnMemory, OfEveryRankIsStagedWhereOneMayNotCopy) {
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    if (comm.rank() == 2) {
      EXPECT_TRUE(refuse_copying());
      EXPECT_FALSE(can_copy());
    }
    find_out(comm);
    if (comm.rank() != 2) {
      EXPECT_FALSE(comm.others_copy());
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(OwnMemory, IsCopiedInCommunicatorsOfThoseThatMay) {
  if (!can_copy()) GTEST_SKIP() << "the kernel does not let processes copy out of each other's memory here";
  const auto ranks = run_ranks(4, [](Communicator& comm) {
    if (comm.rank() == 3) {
      EXPECT_TRUE(refuse_copying());
    }
    Communicator half = comm.split(comm.rank() / 2);
    find_out(half);
    if (comm.rank() < 2) {
      EXPECT_TRUE(half.others_copy());
    }
    if (comm.rank() == 2) {
      EXPECT_FALSE(half.others_copy());
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

/// Rank 1 is killed at a moment of its calls that differs from turn to turn.
void expect_the_others_told(int size, int turn, const std::function<void(Communicator&)>& call) {
  const auto ranks = run_ranks(size, [&](Communicator& comm) {
    find_out(comm);
    std::thread killer;
    if (comm.rank() == 1)
      killer = std::thread([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(200 + 137 * turn));
        raise(SIGKILL);
      });
    try {
      while (true) call(comm);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::peer_lost) << error.what();
      EXPECT_THAT(error.what(), testing::HasSubstr("peer 1 lost"));
    }
  });
  EXPECT_TRUE(ranks.checks_passed()) << "turn " << turn << ": " << ranks;
  EXPECT_EQ(ranks.launch().ranks[1].signal, SIGKILL);
}

// Two ranks copy by the kernel wherever there are two cores, three where there are three.
TEST(OwnMemory, OfARankThatIsKilledIsMissed) {
  for (const int size : {2, 3}) {
    for (int turn = 0; turn < 20; ++turn) {
      std::vector<float> in(kMany);
      std::vector<float> out(kMany);
      const std::size_t whole = kMany / static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
      expect_the_others_told(size, turn, [&](Communicator& comm) {
        all_to_all(comm, std::span(in).first(whole), std::span(out).first(whole));
      });
      expect_the_others_told(size, turn, [&](Communicator& comm) { all_reduce(comm, in, ReduceOp::sum); });
      expect_the_others_told(size, turn, [&](Communicator& comm) { broadcast(comm, in, size == 2 ? 0 : 2); });
      expect_the_others_told(size, turn, [&](Communicator& comm) {
        exchange(comm, in, (comm.rank() + 1) % size, out, (comm.rank() + size - 1) % size);
      });
    }
  }
}

}  // namespace
}  // namespace shoal::test

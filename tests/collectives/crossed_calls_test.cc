#include <array>
#include <chrono>
#include <thread>

#include "mismatches.h"

// Calls that share no message and no flag, because they are on different communicators or one is from point to point:
// ranks that wait for each other in them would wait for ever.

namespace shoal::test {
namespace {

constexpr std::array kBarriers{Algorithm::tiny, Algorithm::dissemination};

TEST(CrossedCalls, OnTheWorldAndOnAnotherCommunicatorOfTheSameRanksAreTold) {
  for (const Algorithm algorithm : kBarriers) {
    for (const int ranks : {2, 3, 5}) {
      SCOPED_TRACE(std::string(name(algorithm)) + ", " + std::to_string(ranks) + " ranks");
      expect_mismatch(ranks, {"barrier (" + std::string(name(algorithm))}, [&](Communicator& comm) {
        Communicator same = comm.split(0);
        barrier(comm.rank() == 1 ? same : comm, {.algorithm = algorithm});
      });
    }
  }
}

TEST(CrossedCalls, InSwappedOrderAreTold) {
  for (const Algorithm algorithm : kBarriers) {
    SCOPED_TRACE(name(algorithm));
    expect_mismatch(2, {"barrier (" + std::string(name(algorithm))}, [&](Communicator& comm) {
      Communicator one = comm.split(0);
      Communicator other = comm.split(0);
      barrier(comm.rank() == 0 ? one : other, {.algorithm = algorithm});
      barrier(comm.rank() == 0 ? other : one, {.algorithm = algorithm});
    });
  }
}

TEST(CrossedCalls, InACircleOfThreeCommunicatorsAreTold) {
  // Rank r waits for rank r+1, in a pair that the other is in, too, but not now.
  expect_mismatch(3, {"barrier (tiny", "of another communicator", "round to this rank"}, [](Communicator& comm) {
    std::vector<Communicator> with_right;
    for (int left = 0; left < 3; ++left) {
      Communicator pair = comm.split(comm.rank() == left || comm.rank() == (left + 1) % 3 ? 0 : 1);
      if (comm.rank() == left) with_right.push_back(std::move(pair));
    }
    barrier(with_right.at(0), {.algorithm = Algorithm::tiny});
  });
}

TEST(CrossedCalls, OfOneThatReceivesAndOthersThatMeetAreTold) {
  for (const Algorithm algorithm : kBarriers) {
    for (const int receiver : {0, 1, 2}) {
      SCOPED_TRACE(std::string(name(algorithm)) + ", rank " + std::to_string(receiver));
      expect_mismatch(3, {"barrier ("}, [&](Communicator& comm) {
        std::array<float, 2> in{};
        if (comm.rank() == receiver) return recv(comm, in, (receiver + 1) % 3);
        barrier(comm, {.algorithm = algorithm});
      });
    }
  }
}

TEST(CrossedCalls, OfAnExchangeAndAnAllReduceAreTold) {
  expect_mismatch(2, {"exchange (", "all_reduce (tiny"}, [](Communicator& comm) {
    std::array<float, 2> out{1, 2};
    std::array<float, 2> in{};
    if (comm.rank() == 0) return exchange(comm, out, 1, in, 1);
    all_reduce(comm, in, ReduceOp::sum);
  });
}

// The other side of it: ranks that are late, in calls of several communicators, are waited for.
TEST(CrossedCalls, AreNotTakenForThoseOfRanksThatAreLate) {
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    Communicator pair = comm.split(comm.rank() == 2 ? 1 : 0);
    std::array<float, 1> value{};
    for (int turn = 0; turn < 3; ++turn) {
      const auto late = [&](int rank) {  // For longer than waiting ranks take to look at each other.
        if (comm.rank() == rank) std::this_thread::sleep_for(std::chrono::milliseconds(130));
      };
      late(turn);
      if (comm.rank() == 0) recv(comm, value, 1);
      if (comm.rank() == 1) send(comm, value, 0);
      if (comm.rank() != 2) barrier(pair);
      late((turn + 1) % 3);
      barrier(comm);
      if (comm.rank() == 2) send(comm, value, 1);
      late((turn + 2) % 3);
      if (comm.rank() != 2) barrier(pair);
      if (comm.rank() == 1) recv(comm, value, 2);
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

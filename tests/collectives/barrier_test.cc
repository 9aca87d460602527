#include <chrono>
#include <thread>

#include "collective_checks.h"

namespace shoal::test {
namespace {

class Barrier : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, Barrier, every_world(), world_name);

TEST_P(Barrier, MovesNothing) {
  const auto ranks = run_ranks(GetParam(), [](Communicator& comm) {
    for (int i = 0; i < 20; ++i) {
      const Algorithm algorithm = i % 2 == 0 ? Algorithm::dissemination : Algorithm::tiny;
      const Traffic before = comm.traffic();
      barrier(comm, {.algorithm = algorithm});
      expect_cost(comm, before, Operation::barrier, algorithm, 0, DataType::byte);
      EXPECT_EQ((comm.traffic() - before).sent, 0U);
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_P(Barrier, LetsNoRankPassBeforeTheLastHasArrived) {
  // CLOCK_MONOTONIC is one clock for all processes of a machine: the latest arrival precedes the earliest departure.
  const auto ranks = run_ranks(GetParam(), [](Communicator& comm) {
    for (int round = 0; round < 4 * comm.size(); ++round) {
      if (round % comm.size() == comm.rank())  // This rank is late, and the others have time to pass wrongly.
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const std::int64_t arrival = std::chrono::steady_clock::now().time_since_epoch().count();
      barrier(comm, {.algorithm = round % 2 == 0 ? Algorithm::dissemination : Algorithm::tiny});
      const std::int64_t departure = std::chrono::steady_clock::now().time_since_epoch().count();
      std::int64_t latest_arrival = arrival;
      std::int64_t earliest_departure = departure;
      all_reduce(comm, std::span(&latest_arrival, 1), ReduceOp::max);
      all_reduce(comm, std::span(&earliest_departure, 1), ReduceOp::min);
      EXPECT_LE(latest_arrival, earliest_departure) << "round " << round;
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

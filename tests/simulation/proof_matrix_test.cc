// Every algorithm of every operation, at every world size up to 40, under 100 schedules each: channels from rendezvous
// up, sizes around each boundary in turn, results against serial loops, bytes, messages and steps against cost().

#include "simulation/proof_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace shoal::test {
namespace {

SimulationResult run(const CallSpec& spec) {
  const CheckedCall call(spec);
  return simulate(spec.ranks, [&](Communicator& comm) { call.run(comm); });
}

TEST(CheckedCall, TellsAWrongResult) {
  // Rank 2 gives what another seed decides: no rank gets the sum of what it takes the others to give.
  const CheckedCall call({.operation = Operation::all_reduce, .ranks = 3, .count = 5, .seed = 1});
  const CheckedCall other({.operation = Operation::all_reduce, .ranks = 3, .count = 5, .seed = 2});
  const auto result = simulate(3, [&](Communicator& comm) { (comm.rank() == 2 ? other : call).run(comm); });
  for (const SimulatedRank& rank : result.ranks)
    EXPECT_THAT(rank.error, testing::ContainsRegex("rank [012]: all_reduce by auto of 5 u32, sum: out\\[0\\] of 5 is"));
}

TEST(CheckedCall, TellsBytesThatTheClosedFormDoesNotHave) {
  const std::array calls{CheckedCall({.operation = Operation::all_gather, .ranks = 3, .count = 6})};
  const auto result = run({.operation = Operation::all_gather, .ranks = 3, .count = 9});
  ASSERT_TRUE(result.ok()) << result;
  EXPECT_THAT(difference_from_cost(result, calls), testing::HasSubstr("rank 0 of 3: 24 sent, 24 received"));
}

class ProofMatrix : public testing::TestWithParam<int> {};

TEST_P(ProofMatrix, EveryAlgorithmIsRightUnderEverySchedule) { expect_every_algorithm_right(GetParam(), 1, 100); }

// Data of many blocks is too much for every schedule above in every world; here it goes through the widest channel,
// once for each size, by the algorithm chosen and by the one that is chosen where there are no windows.
TEST_P(ProofMatrix, BroadcastsOfManyBlocksAreRight) {
  const int ranks = GetParam();
  for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::pipelined}) {
    for (const std::size_t count : {131'071U, 131'072U, 131'073U}) {
      const std::array calls{CheckedCall({.operation = Operation::broadcast,
                                          .algorithm = algorithm,
                                          .ranks = ranks,
                                          .count = count,
                                          .root = static_cast<int>(count) % ranks,
                                          .seed = count})};
      const auto result =
          simulate(ranks, [&](Communicator& comm) { calls[0].run(comm); }, {.seed = count, .channel_bytes = 4096});
      ASSERT_TRUE(result.ok()) << result;
      EXPECT_EQ(difference_from_cost(result, calls), "") << count << " by " << name(algorithm);
      const std::string chosen = algorithm != Algorithm::automatic ? "pipelined" : ranks == 1 ? "binomial" : "direct";
      EXPECT_TRUE(result.ranks[0].traffic.by_algorithm.contains("broadcast:" + chosen)) << count << ": not " << chosen;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ProofMatrix, testing::Range(1, 41), testing::PrintToStringParamName());

}  // namespace
}  // namespace shoal::test

// SHOAL_ALGORITHM is read once by a process, at its first call or question about a cost: nothing in this program asks
// before its ranks do.

#include <cstdlib>

#include "collective_checks.h"

namespace shoal::test {
namespace {

TEST(AlgorithmChoices, OfTheEnvironmentAreUsedByCallsThatAskForNone) {
  ::setenv("SHOAL_ALGORITHM", "all_reduce:ring,broadcast:binomial", 1);
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    auto data = values_of<float>(comm.rank(), 100);
    const Traffic before = comm.traffic();
    all_reduce(comm, data, ReduceOp::sum);
    expect_cost(comm, before, Operation::all_reduce, Algorithm::ring, 100, DataType::f32);
    const Traffic between = comm.traffic();
    all_reduce(comm, data, ReduceOp::sum, {.algorithm = Algorithm::pairwise});
    expect_cost(comm, between, Operation::all_reduce, Algorithm::pairwise, 100, DataType::f32);
    EXPECT_EQ(cost({.operation = Operation::all_reduce, .count = 10, .ranks = 4}).received, 32U + 28U) << "by ring";
  });
  ::unsetenv("SHOAL_ALGORITHM");
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(AlgorithmChoices, ThatNameNothingAreOneErrorAtTheFirstCall) {
  ::setenv("SHOAL_ALGORITHM", "all_reduce:rign", 1);
  const auto ranks = run_ranks(1, [](Communicator& comm) {
    try {
      barrier(comm);
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_STREQ(error.what(), "rank 0: barrier: SHOAL_ALGORITHM: \"rign\" is not an algorithm");
    }
  });
  ::unsetenv("SHOAL_ALGORITHM");
  EXPECT_TRUE(ranks.checks_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

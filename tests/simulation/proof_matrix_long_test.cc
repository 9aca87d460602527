// As proof_matrix_test, under 10,000 more schedules for each algorithm in each world of up to 9 ranks, and 250 in each
// larger one.

#include <gtest/gtest.h>

#include "simulation/proof_matrix.h"

namespace shoal::test {
namespace {

class ProofMatrixLong : public testing::TestWithParam<int> {};

TEST_P(ProofMatrixLong, EveryAlgorithmIsRightUnderEverySchedule) {
  expect_every_algorithm_right(GetParam(), 101, GetParam() <= 9 ? 10'000 : 250);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ProofMatrixLong, testing::Range(1, 41), testing::PrintToStringParamName());

}  // namespace
}  // namespace shoal::test

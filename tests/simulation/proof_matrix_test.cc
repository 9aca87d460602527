// Every algorithm of every operation, at every world size up to 40, under 100 schedules each: channels from rendezvous
// up, sizes around each boundary in turn, results against serial loops, bytes, messages and steps against cost().

#include "simulation/proof_matrix.h"

#include <gtest/gtest.h>

namespace shoal::test {
namespace {

class ProofMatrix : public testing::TestWithParam<int> {};

TEST_P(ProofMatrix, EveryAlgorithmIsRightUnderEverySchedule) { expect_every_algorithm_right(GetParam(), 1, 100); }

INSTANTIATE_TEST_SUITE_P(Ranks, ProofMatrix, testing::Range(1, 41), testing::PrintToStringParamName());

}  // namespace
}  // namespace shoal::test

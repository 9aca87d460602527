// A million calls in each of three sub-communicators.

#include "stress/mixed_operations_runs.h"

namespace shoal::test {
namespace {

TEST(MixedOperationsLong, AMillionInThreeSubcommunicatorsAreAllRight) { expect_nothing_wrong(1'000'000, 3, "3,3,3"); }

}  // namespace
}  // namespace shoal::test

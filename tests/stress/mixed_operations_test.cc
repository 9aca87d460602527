// Some of what mixed_operations_long_test does.

#include "stress/mixed_operations_runs.h"

namespace shoal::test {
namespace {

TEST(MixedOperations, InThreeSubcommunicatorsSideBySideAreAllRight) { expect_nothing_wrong(14'000, 1, "3,3,3"); }

TEST(MixedOperations, InUnevenSubcommunicatorsAreAllRight) { expect_nothing_wrong(6'000, 2, "2,3,4"); }

TEST(MixedOperations, ForGroupsThatAreNotTheWorldAreRefused) {
  const auto result = run_command({SHOALRUN, "-n", "2", MIXED_OPERATIONS, "10", "1", "--groups", "3"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, testing::HasSubstr("--groups: 3 ranks in all, but there are 2"));
}

}  // namespace
}  // namespace shoal::test

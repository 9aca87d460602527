#include "shoal/runtime/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace shoal {
namespace {

TEST(Cores, QuotaOfACgroupIsReadInCores) {
  EXPECT_EQ(cgroup_quota("50000 100000"), 0.5);
  EXPECT_EQ(cgroup_quota("150000 100000"), 1.5);
  EXPECT_EQ(cgroup_quota("max 100000"), 0);
  EXPECT_EQ(cgroup_quota("-1 100000"), 0);
  EXPECT_EQ(cgroup_quota(""), 0);
  EXPECT_EQ(cgroup_quota("100000 0"), 0);
}

TEST(Cores, CountIsTheLesserOfMaskAndQuotaAndAtLeastOne) {
  EXPECT_EQ((AllowedCores{.cores = {3}, .quota = 0}).count(), 1);
  EXPECT_EQ((AllowedCores{.cores = {1, 5}, .quota = 0}).count(), 2);
  EXPECT_EQ((AllowedCores{.cores = {1, 5}, .quota = 0.5}).count(), 1);
  EXPECT_EQ((AllowedCores{.cores = {1, 5}, .quota = 1.5}).count(), 1);
  EXPECT_EQ((AllowedCores{.cores = {1, 5}, .quota = 8}).count(), 2);
  EXPECT_EQ((AllowedCores{.cores = {0, 1, 2, 3}, .quota = 3}).count(), 3);
  EXPECT_EQ((AllowedCores{}).count(), 1);
}

TEST(Cores, MaskOfThisProcessIsFollowed) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const std::vector<int> all = allowed_cores().cores;
  ASSERT_EQ(static_cast<int>(all.size()), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(all.back()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(allowed_cores().cores, std::vector<int>{all.back()});
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace shoal

#include "plan/check.h"

#include <gtest/gtest.h>

#include "plan/golden.h"
#include "plan/refused.h"

namespace shoal::plan {
namespace {

TEST(CheckPlan, ComesToWhatTheSeedFound) {
  const auto expected = golden("check_plan.json");
  const CheckedPlan checked = check_plan();
  EXPECT_EQ(checked.strong_unique_samples, expected["strong_unique_samples"]);
  EXPECT_EQ(checked.strong_union_sha256, expected["strong_union_sha256"]);
}

TEST(CheckPlan, HoldsInWorldsOfAnySize) {
  const CheckedPlan checked = check_plan({.worlds = {1, 2, 3, 5, 7, 8, 9, 12, 16, 24, 31, 300}});
  EXPECT_EQ(checked.strong_union_sha256, check_plan().strong_union_sha256);
}

TEST(CheckPlan, HoldsForOtherSizes) {
  const PhaseSizes sizes{.strong_batch = 10,
                         .strong_updates = 4,
                         .strong_warmup = 0,
                         .weak_batch = 5,
                         .weak_updates = 3,
                         .weak_warmup = 2,
                         .weak_base_world = 3};
  EXPECT_EQ(check_plan({.worlds = {1, 2, 3, 4, 11}, .samples = 40, .sizes = sizes}).strong_unique_samples, 40U);
}

TEST(CheckPlan, WhatIsNotSoIsNamed) {
  expect_refused([] { check_plan({.worlds = {}}); }, "no world to check");
  expect_refused([] { check_plan({.worlds = {0}}); }, "world 0: at least 1");
  // 39 whole updates of 256, and of the 40th all but one sample.
  expect_refused([] { check_plan({.samples = 10239}); },
                 "strong phase in a world of 8, step 39: its ids are not those");
}

}  // namespace
}  // namespace shoal::plan

#include "binding.h"

#include <gtest/gtest.h>

namespace shoal::detail {
namespace {

const AllowedCores kTwoOfMany{.cores = {1, 5}, .quota = 0};
const AllowedCores kFourButTimeForOne{.cores = {0, 1, 2, 3}, .quota = 1.5};

TEST(Binding, AutomaticGivesEachRankACoreOnlyWhereThereAreAsManyOfThem) {
  EXPECT_EQ(core_of_rank(Binding::automatic, 0, 2, kTwoOfMany), 1);
  EXPECT_EQ(core_of_rank(Binding::automatic, 1, 2, kTwoOfMany), 5);
  EXPECT_FALSE(core_of_rank(Binding::automatic, 0, 1, kTwoOfMany));
  EXPECT_FALSE(core_of_rank(Binding::automatic, 0, 3, kTwoOfMany));
  EXPECT_FALSE(core_of_rank(Binding::automatic, 0, 4, kFourButTimeForOne));
}

TEST(Binding, CoreDealsTheAllowedCoresOutInTurn) {
  EXPECT_EQ(core_of_rank(Binding::core, 0, 3, kTwoOfMany), 1);
  EXPECT_EQ(core_of_rank(Binding::core, 1, 3, kTwoOfMany), 5);
  EXPECT_EQ(core_of_rank(Binding::core, 2, 3, kTwoOfMany), 1);
}

TEST(Binding, NoneBindsNobody) { EXPECT_FALSE(core_of_rank(Binding::none, 0, 2, kTwoOfMany)); }

}  // namespace
}  // namespace shoal::detail

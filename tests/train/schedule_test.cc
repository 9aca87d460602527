#include "train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::train {
namespace {

TEST(Schedule, ConstantIsThePeakToTheBit) {
  const Schedule schedule{.peak = 0.001F, .updates = 10};
  for (const std::uint64_t update : {0U, 1U, 9U, 1000U}) EXPECT_EQ(schedule.learning_rate(update), 0.001F);
}

TEST(Schedule, WarmUpRisesInEqualStepsAndItsLastUpdateHasThePeak) {
  for (const ScheduleKind kind : {ScheduleKind::constant, ScheduleKind::cosine, ScheduleKind::linear}) {
    const Schedule schedule{.kind = kind, .peak = 0.5F, .warmup = 4, .updates = 12};
    EXPECT_EQ(schedule.learning_rate(0), 0.125F);
    EXPECT_EQ(schedule.learning_rate(1), 0.25F);
    EXPECT_EQ(schedule.learning_rate(3), 0.5F);
    EXPECT_EQ(schedule.learning_rate(4), 0.5F);
  }
}

// 4 updates of warm-up and 8 others: after two of those a quarter is done, after four a half.
TEST(Schedule, LinearFallsToZeroAfterTheLastUpdate) {
  const Schedule schedule{.kind = ScheduleKind::linear, .peak = 0.5F, .warmup = 4, .updates = 12};
  EXPECT_EQ(schedule.learning_rate(6), 0.375F);
  EXPECT_EQ(schedule.learning_rate(8), 0.25F);
  EXPECT_EQ(schedule.learning_rate(11), 0.0625F);
  EXPECT_EQ(schedule.learning_rate(12), 0.0F);
  EXPECT_EQ(schedule.learning_rate(99), 0.0F);  // A resumed run may be longer than was planned.
}

TEST(Schedule, CosineFallsAsHalfAWave) {
  const Schedule schedule{.kind = ScheduleKind::cosine, .peak = 0.5F, .warmup = 4, .updates = 12};
  EXPECT_NEAR(schedule.learning_rate(6), 0.25 * (1.0 + std::sqrt(0.5)), 1e-7);
  EXPECT_NEAR(schedule.learning_rate(8), 0.25, 1e-7);
  EXPECT_NEAR(schedule.learning_rate(10), 0.25 * (1.0 - std::sqrt(0.5)), 1e-7);
  EXPECT_NEAR(schedule.learning_rate(12), 0.0, 1e-7);
}

TEST(Schedule, AWarmUpLongerThanTheRunNeverGetsToThePeak) {
  const Schedule schedule{.kind = ScheduleKind::linear, .peak = 1.0F, .warmup = 100, .updates = 10};
  EXPECT_EQ(schedule.learning_rate(9), 0.1F);
}

}  // namespace
}  // namespace shoal::train

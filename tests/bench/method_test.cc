// How a time is taken, with ranks whose times are made up.
#include "bench/method.h"

#include <gtest/gtest.h>

#include <vector>

namespace shoal::bench {
namespace {

struct Counted {
  int calls = 0;
  int meetings = 0;
  Times times;
};

/// time_calls() where the slowest rank's times are `told`, one after another, the last of them for ever.
Counted timed(std::size_t bytes, double seconds, const std::vector<double>& told) {
  Counted counted;
  std::size_t next = 0;
  counted.times = time_calls(
      bytes, seconds, [&] { ++counted.calls; }, [&] { ++counted.meetings; },
      [&](double) { return told[std::min(next++, told.size() - 1)]; });
  return counted;
}

TEST(Method, FillsTheTimeWithFiveRepeats) {
  const Counted counted = timed(64, 0.15, {1e-3});
  EXPECT_EQ(counted.times.calls, 30);      // 150 in all.
  EXPECT_EQ(counted.calls, 20 + 2 + 150);  // To get warm, to find how many, and those that count.
  EXPECT_EQ(counted.meetings, 1 + 5);
}

TEST(Method, LargeVectorsGetWarmInThreeCalls) { EXPECT_EQ(timed(65537, 0.15, {1e-3}).calls, 3 + 2 + 150); }

TEST(Method, CallsAreAtLeastOneAndAtMostTenThousandARepeat) {
  EXPECT_EQ(timed(64, 0.15, {10.0}).times.calls, 1);
  EXPECT_EQ(timed(64, 100.0, {1e-6}).times.calls, 10000);
  EXPECT_EQ(timed(64, 0.001, {0.0}).times.calls, 2000);  // No call takes less than 0.1 us.
}

TEST(Method, FigureIsTheMedianOfTheSlowestRanksMeans) {
  const Counted counted = timed(64, 0.15, {1e-3, 5.0, 1.0, 4.0, 2.0, 3.0});
  EXPECT_EQ(counted.times.seconds, (std::array{5.0, 1.0, 4.0, 2.0, 3.0}));
  EXPECT_EQ(counted.times.median(), 3.0);
  EXPECT_EQ(counted.times.least(), 1.0);
  EXPECT_EQ(counted.times.most(), 5.0);
}

}  // namespace
}  // namespace shoal::bench

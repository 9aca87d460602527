#include "train/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace shoal::train {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const Progress::Clock::time_point kStart{1000s};

TEST(Progress, PlainShowsTheFirstTheLastAndTenStepsBetween) {
  std::ostringstream out;
  const Progress progress(out, ProgressStyle::plain, 0, 100, kStart);
  std::vector<std::uint64_t> shown;
  for (std::uint64_t step = 1; step <= 100; ++step)
    if (progress.shows(step, kStart)) shown.push_back(step);
  EXPECT_EQ(shown, (std::vector<std::uint64_t>{1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}));
}

// A run resumed at step 50 of 200: 50 steps in 10 seconds, 5 a second, so the other 100 take 20.
TEST(Progress, PlainLinesHaveLossRateBytesAndTheTimeLeft) {
  std::ostringstream out;
  Progress progress(out, ProgressStyle::plain, 50, 200, kStart);
  progress.show({.step = 100, .loss = 0.5, .samples = 12'800, .bytes_sent = 2'340'000}, kStart + 10s);
  EXPECT_EQ(out.str(), "step 100 of 200  loss 0.500000  1280 samples/s  2.3 MB sent  20 s left\n");
  out.str("");
  progress.show({.step = 200, .loss = 0.25, .samples = 38'400, .bytes_sent = 7'000'000}, kStart + 30s);
  EXPECT_EQ(out.str(), "step 200 of 200  loss 0.250000  1280 samples/s  7.0 MB sent\n");
}

TEST(Progress, LongTimesAreInMinutesAndHours) {
  std::ostringstream out;
  Progress progress(out, ProgressStyle::plain, 0, 1001, kStart);
  progress.show({.step = 1}, kStart + 100ms);
  progress.show({.step = 1}, kStart + 9s);
  EXPECT_THAT(out.str(), HasSubstr("  1 min 40 s left\n"));
  EXPECT_THAT(out.str(), HasSubstr("  2 h 30 min left\n"));
}

TEST(Progress, TheBarIsOneLineWrittenOverTenTimesASecond) {
  std::ostringstream out;
  Progress progress(out, ProgressStyle::bar, 0, 48, kStart);
  EXPECT_TRUE(progress.shows(1, kStart));
  progress.show({.step = 12, .loss = 123.5}, kStart + 1s);
  EXPECT_FALSE(progress.shows(13, kStart + 1050ms));
  EXPECT_TRUE(progress.shows(14, kStart + 1100ms));
  EXPECT_TRUE(progress.shows(48, kStart + 1101ms));  // The end is always shown.
  EXPECT_THAT(out.str(), testing::StartsWith("[######..................] step 12 of 48  loss 123.500000"));
  EXPECT_EQ(out.str().find('\n'), std::string::npos);
  EXPECT_EQ(out.str().back(), '\r');
  const std::size_t first = out.str().size();
  progress.show({.step = 48, .loss = 1.5}, kStart + 2s);
  EXPECT_EQ(out.str().size(), 2 * first);  // What was longer is covered.
  progress.finish();
  EXPECT_EQ(out.str().back(), '\n');
}

TEST(Progress, NoneShowsNothing) {
  std::ostringstream out;
  Progress progress(out, ProgressStyle::none, 0, 10, kStart);
  EXPECT_FALSE(progress.shows(1, kStart));
  EXPECT_FALSE(progress.shows(10, kStart));
  progress.finish();
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace shoal::train

#include "wait.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

namespace shoal::detail {
namespace {

constexpr WaitPolicy kSleepAtOnce{.polls = 0, .yields = 0};

bool never_check(std::chrono::nanoseconds) { return false; }

TEST(Wait, ReadyAtOnceNeitherChecksNorTouchesTheDoorbell) {
  auto self = std::make_unique<RankState>();
  wait_until(
      *self, kSleepAtOnce, [] { return true; },
      [](std::chrono::nanoseconds) -> bool { throw std::logic_error("checked"); });
  EXPECT_EQ(self->doorbell.load(std::memory_order_relaxed), 0U);
  EXPECT_EQ(self->sleeping.load(std::memory_order_relaxed), 0U);
}

TEST(Wait, WakingOneWhoIsAwakeWritesNothing) {
  auto state = std::make_unique<RankState>();
  wake(*state);
  EXPECT_EQ(state->doorbell.load(std::memory_order_relaxed), 0U);
}

TEST(Wait, WhatCheckThrowsLeavesTheWaiterAwake) {
  auto self = std::make_unique<RankState>();
  EXPECT_THROW(wait_until(
                   *self, kSleepAtOnce, [] { return false; },
                   [](std::chrono::nanoseconds) -> bool { throw std::runtime_error("over"); }),
               std::runtime_error);
}

TEST(Wait, CheckIsAskedInEveryStageOfThePolicy) {
  for (const WaitPolicy policy : {WaitPolicy{.polls = 2000, .yields = 0}, WaitPolicy{.polls = 0, .yields = 3},
                                  WaitPolicy{.polls = 0, .yields = 0}}) {
    auto self = std::make_unique<RankState>();
    int checks = 0;
    wait_until(
        *self, policy, [] { return false; },
        [&checks](std::chrono::nanoseconds) { return ++checks == 2; });  // True: something came after all.
    EXPECT_EQ(checks, 2);
    EXPECT_EQ(self->sleeping.load(std::memory_order_relaxed), 0U);
  }
}

TEST(Wait, GapsBetweenLooksCountOnlyInPart) {
  WaitClock clock;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < WaitClock::kLongestStep + std::chrono::milliseconds(50)) {
  }
  EXPECT_EQ(clock.step(), WaitClock::kLongestStep);
  EXPECT_LT(clock.step(), WaitClock::kLongestStep);
}

TEST(Wait, ManyCoresSpinAndFewYieldFirst) {
  EXPECT_GT(WaitPolicy::for_ranks(2, 2).polls, WaitPolicy::for_ranks(3, 2).polls);
  EXPECT_GT(WaitPolicy::for_ranks(3, 2).yields, 0);
}

// Each turn both sides go to sleep; a wake-up lost would cost the bounded sleep of 100 ms, so that losing one in a
// hundred would take this beyond its time limit.
TEST(WaitOnTwoThreads, SleepersAreWokenEveryTime) {
  auto states = std::make_unique<RankState[]>(2);
  std::atomic<std::uint32_t> turn{0};
  constexpr std::uint32_t kTurns = 100'000;
  const auto play = [&](std::uint32_t me) {
    for (std::uint32_t i = me; i < kTurns; i += 2) {
      wait_until(
          states[me], kSleepAtOnce, [&] { return turn.load(std::memory_order_seq_cst) == i; }, never_check);
      turn.store(i + 1, std::memory_order_seq_cst);
      wake(states[1 - me]);
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn.load(std::memory_order_relaxed), kTurns);
}

}  // namespace
}  // namespace shoal::detail

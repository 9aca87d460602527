#pragma once

#include <chrono>
#include <cstdint>

#include "layout.h"

// The one place that waits. A rank polls while it has a core of its own; where ranks outnumber cores it polls a
// little, yields its core a bounded number of times, and then sleeps on its doorbell, a futex shared between
// processes. Sleeps are bounded too, and between them the caller looks at what could make waiting pointless.
//
// Lost wake-ups cannot happen: the sleeper raises `sleeping` and then looks once more at what it waits for; the waker
// publishes and then looks at `sleeping`. Both pairs are sequentially consistent, so one of them sees the other:
//
//     sleeper: sleeping = 1; look again; sleep while doorbell is as it was before
//     waker:   publish;      sleeping?  then doorbell + 1, wake

namespace shoal::detail {

/// How long to poll, and to yield, before sleeping.
struct WaitPolicy {
  int polls = 0;
  int yields = 0;
  std::chrono::nanoseconds longest_sleep = std::chrono::milliseconds(100);

  /// For `ranks` ranks on `cores` cores.
  static WaitPolicy for_ranks(std::uint32_t ranks, std::uint32_t cores);
};

/// Wakes the rank of `state` if it sleeps: no system call, and nothing written, if it does not.
/// The caller must have published what the rank waits for by a sequentially consistent store.
void wake(RankState& state) noexcept;

/// Sleeps until the doorbell is no longer `seen`, or `longest` passes, or a signal arrives.
void sleep_on_doorbell(RankState& state, std::uint32_t seen, std::chrono::nanoseconds longest) noexcept;

void pause_core() noexcept;
void yield_core() noexcept;

/// Time spent waiting, in which long gaps between two looks count only in part: the process was stopped then.
class WaitClock {
 public:
  /// Time since the previous call, at most `kLongestStep`.
  std::chrono::nanoseconds step();

  static constexpr std::chrono::milliseconds kLongestStep{200};

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Waits until ready() returns true. Every so often (in each round of polls, at every yield and sleep) calls
/// check(elapsed), which throws when there is nothing left to wait for, or no time, and returns true when a last look
/// found something after all.
template <class Ready, class Check>
void wait_until(RankState& self, WaitPolicy policy, Ready&& ready, Check&& check) {
  constexpr int kPollsBetweenChecks = 512;
  for (int poll = 0; poll < policy.polls && poll < kPollsBetweenChecks; ++poll) {
    if (ready()) {
      return;
    }
    pause_core();
  }
  WaitClock clock;
  for (int poll = kPollsBetweenChecks; poll < policy.polls; ++poll) {
    if (ready()) {
      return;
    }
    pause_core();
    if (poll % kPollsBetweenChecks == 0 && check(clock.step())) {
      return;
    }
  }
  for (int yield = 0; yield < policy.yields; ++yield) {
    if (ready()) {
      return;
    }
    if (check(clock.step())) {
      return;
    }
    yield_core();
  }
  while (true) {
    // The doorbell before the flag and the flag before the look: a ring after our look changes the word we sleep on.
    const std::uint32_t seen = self.doorbell.load(std::memory_order_acquire);
    self.sleeping.store(1, std::memory_order_seq_cst);  // Pairs with the load in wake().
    if (ready()) {
      self.sleeping.store(0, std::memory_order_relaxed);
      return;
    }
    if (check(clock.step())) {
      self.sleeping.store(0, std::memory_order_relaxed);
      return;
    }
    sleep_on_doorbell(self, seen, policy.longest_sleep);
    self.sleeping.store(0, std::memory_order_relaxed);
  }
}

}  // namespace shoal::detail

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "layout.h"

// The one place that waits. A rank polls while it has a core of its own; where ranks outnumber cores it polls a
// little, yields its core a bounded number of times, and then sleeps on its doorbell, a futex shared between
// processes. Sleeps are bounded too, and between them the caller looks at what could make waiting pointless.
//
// Lost wake-ups cannot happen: the sleeper raises `sleeping` and then looks once more at what it waits for; the waker
// publishes and then looks at `sleeping`. With a barrier between the two steps on either side one of them sees the
// other:
//
//     sleeper: sleeping = 1; barrier; look again; sleep while doorbell is as it was before
//     waker:   publish;      barrier; sleeping?  then doorbell + 1, wake
//
// In the waker that barrier would stand in each publication, and last as long as a line's way between cores. So where
// the kernel can do it the sleeper, who has time, has it made in all cores that run a rank (membarrier), and the
// waker's is the compiler's alone.

namespace shoal::detail {

/// How long to poll, and to yield, before sleeping.
struct WaitPolicy {
  int polls = 0;
  int yields = 0;
  std::chrono::nanoseconds longest_sleep = std::chrono::milliseconds(100);

  /// For `ranks` ranks on `cores` cores.
  static WaitPolicy for_ranks(std::uint32_t ranks, std::uint32_t cores);
};

/// Who makes the barrier between a process's publications and its looks at `sleeping`.
enum class WakeBarrier : std::uint8_t { waker, sleeper };
/// Has sleepers make that of this process from now on, if the kernel lets them.
WakeBarrier register_waker() noexcept;
/// Makes it in all processes that are registered; false if the kernel does not let this one.
bool barrier_in_wakers() noexcept;
void barrier_in_waker() noexcept;

/// Between a publication and wake().
inline void order_before_wake(WakeBarrier barrier) noexcept {
  if (barrier == WakeBarrier::waker) return barrier_in_waker();
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// Wakes the rank of `state` if it sleeps: no system call, and nothing written, if it does not.
/// The caller has published what the rank waits for, and called order_before_wake or published by a sequentially
/// consistent store.
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

/// At most, of one that can make no barrier in those that might wake it.
inline constexpr std::chrono::nanoseconds kUnsureSleep = std::chrono::milliseconds(1);

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
    const auto longest = barrier_in_wakers() ? policy.longest_sleep : std::min(policy.longest_sleep, kUnsureSleep);
    if (ready()) {
      self.sleeping.store(0, std::memory_order_relaxed);
      return;
    }
    if (check(clock.step())) {
      self.sleeping.store(0, std::memory_order_relaxed);
      return;
    }
    sleep_on_doorbell(self, seen, longest);
    self.sleeping.store(0, std::memory_order_relaxed);
  }
}

}  // namespace shoal::detail

#include "wait.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace shoal::detail {

WaitPolicy WaitPolicy::for_ranks(std::uint32_t ranks, std::uint32_t cores) {
  if (ranks <= cores) {
    return {.polls = 20'000, .yields = 50};  // About a millisecond: longer than any hand-over between running ranks.
  }
  // Whom it waits for hardly runs at the moment: a poll takes 50 ns, of which a switch to another rank takes twenty.
  return {.polls = 16, .yields = 50};
}

WakeBarrier register_waker() noexcept {
  const bool registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
  return registered ? WakeBarrier::sleeper : WakeBarrier::waker;
}

bool barrier_in_wakers() noexcept { return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0; }

void barrier_in_waker() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

void wake(RankState& state) noexcept {
  // Pairs with the store in wait_until. The exchange lets one of several wakers make the system call.
  if (state.sleeping.load(std::memory_order_seq_cst) == 0 ||
      state.sleeping.exchange(0, std::memory_order_relaxed) == 0) {
    return;
  }
  state.doorbell.fetch_add(1, std::memory_order_release);  // Pairs with the acquire in wait_until.
  syscall(SYS_futex, &state.doorbell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void sleep_on_doorbell(RankState& state, std::uint32_t seen, std::chrono::nanoseconds longest) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (longest - seconds).count()};
  syscall(SYS_futex, &state.doorbell, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void pause_core() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void yield_core() noexcept { sched_yield(); }

std::chrono::nanoseconds WaitClock::step() {
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds elapsed = now - last_;
  last_ = now;
  return std::min<std::chrono::nanoseconds>(elapsed, kLongestStep);
}

}  // namespace shoal::detail

#include "train/stop_request.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace shoal::train {
namespace {

constexpr std::int64_t kSameWishNs = 1'000'000'000;

// A handler has nothing but globals to write to.
std::atomic<int> came{0};
std::atomic<std::int64_t> terminated_ns{0};  // When the first SIGTERM came; 0 for never.
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // May be called in a handler.
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// What the signal usually does, as soon as its handler has returned.
void do_as_usual(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  ::raise(signal);
}

extern "C" void note_interrupt(int signal) {
  came.store(signal, std::memory_order_relaxed);  // SA_RESETHAND: the next one finds the default.
}

extern "C" void note_terminate(int signal) {
  const int error = errno;
  const std::int64_t first = terminated_ns.load(std::memory_order_relaxed);
  const std::int64_t now = now_ns();
  came.store(signal, std::memory_order_relaxed);
  if (first == 0) terminated_ns.store(now, std::memory_order_relaxed);
  if (first != 0 && now - first > kSameWishNs) do_as_usual(signal);
  errno = error;
}

}  // namespace

StopRequest::StopRequest() {
  came.store(0, std::memory_order_relaxed);
  terminated_ns.store(0, std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = note_terminate;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, &terminate_before_);
  action.sa_handler = note_interrupt;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, &interrupt_before_);
}

StopRequest::~StopRequest() {
  ::sigaction(SIGTERM, &terminate_before_, nullptr);
  ::sigaction(SIGINT, &interrupt_before_, nullptr);
}

int StopRequest::signal() const { return came.load(std::memory_order_relaxed); }

}  // namespace shoal::train

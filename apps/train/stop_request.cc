#include "train/stop_request.h"

#include <atomic>

namespace shoal::train {
namespace {

// A handler has nothing but globals to write to.
std::atomic<int> came{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void note_signal(int signal) { came.store(signal, std::memory_order_relaxed); }

}  // namespace

StopRequest::StopRequest() {
  came.store(0, std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGTERM, &action, &terminate_before_);
  ::sigaction(SIGINT, &action, &interrupt_before_);
}

StopRequest::~StopRequest() {
  ::sigaction(SIGTERM, &terminate_before_, nullptr);
  ::sigaction(SIGINT, &interrupt_before_, nullptr);
}

int StopRequest::signal() const { return came.load(std::memory_order_relaxed); }

}  // namespace shoal::train

// A process handle (pidfd) becomes readable when its process dies, and an epoll instance lists what became readable
// in that order.
#include "reaper.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

namespace shoal::detail {

Reaper::Reaper() : poll_(::epoll_create1(EPOLL_CLOEXEC)) {}

void Reaper::watch(pid_t child) {
  // Kernels and sandboxes without pidfd_open exist; then, and without descriptors to spare, waitpid's order must do.
  Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!handle.open() || !poll_.open()) return;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = watched_.size();
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, handle.get(), &event) == 0)
    watched_.push_back({.pid = child, .handle = std::move(handle)});
}

std::vector<Death> Reaper::reap() {
  std::vector<Death> deaths;
  Death death;
  std::array<epoll_event, 16> events{};
  int ready = 0;
  while (poll_.open() && (ready = ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), 0)) > 0) {
    for (int i = 0; i < ready; ++i) {
      Watched& dead = watched_[events[static_cast<std::size_t>(i)].data.u64];
      death.pid = ::wait4(dead.pid, &death.wait_status, WNOHANG, &death.usage);
      if (death.pid == dead.pid) deaths.push_back(death);
      // Closing the only descriptor of the handle takes it out of the poll.
      dead.handle.close();
    }
  }
  while ((death.pid = ::wait4(-1, &death.wait_status, WNOHANG, &death.usage)) > 0) deaths.push_back(death);
  childless_ = death.pid < 0 && errno == ECHILD;
  return deaths;
}

}  // namespace shoal::detail

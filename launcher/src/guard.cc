#include "guard.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <thread>

#include "descendants.h"
#include "shoal/runtime/error.h"

namespace shoal::detail {
namespace {

std::set<pid_t> children() {
  std::set<pid_t> found;
  for (const Process& process : descendants())
    if (process.parent == ::getpid()) found.insert(process.pid);
  return found;
}

[[noreturn]] void run_guard(const std::function<int(Descriptor)>& supervise, Descriptor control) {
  int status = 1;
  try {
    ::setsid();
    ::prctl(PR_SET_NAME, kGuardName);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // Whoever was to read our output may be gone, a file at its limit: that is found when writing.
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN);
    ::signal(SIGCHLD, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    status = supervise(std::move(control));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", kGuardName, error.what());
  }
  std::fflush(nullptr);
  // Not exit(): in a forked copy of the caller its exit handlers are not ours to run.
  ::_exit(status);
}

}  // namespace

Guard::Guard(const std::function<int(Descriptor)>& supervise) {
  Pipe control = make_pipe("the guard");
  // A write to a full pipe would block, to that of a dead guard it is refused: neither may stop the launcher.
  ::fcntl(control.write.get(), F_SETFL, O_NONBLOCK);
  own_children_ = children();

  // What is buffered now would be written a second time by each copy of this process.
  std::fflush(nullptr);
  guard_ = ::fork();
  if (guard_ < 0)
    throw Error(ErrorCode::system, std::string("cannot start the guard process: ") + std::strerror(errno));
  if (guard_ == 0) {
    control.write.close();
    run_guard(supervise, std::move(control.read));
  }
  control_ = std::move(control.write);
  int subreaper = 0;
  ::prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
  was_subreaper_ = subreaper != 0;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Guard::~Guard() {
  control_.close();  // If nobody waited: the guard ends the job.
  if (guard_ > 0) wait();
  if (!was_subreaper_) ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

int Guard::wait() {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(guard_, &status, 0);
  } while (ended < 0 && errno == EINTR);
  // A caller that ignores SIGCHLD, or reaps for itself, leaves no status: that of the board counts.
  if (ended < 0) status = 0;
  guard_ = -1;
  if (WIFSIGNALED(status)) end_leftovers();
  return status;
}

bool Guard::ended() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(guard_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

void Guard::hand_on(int signal) {
  const auto byte = static_cast<ControlByte>(signal);
  // Refused only when the guard is gone, or has a pipe full of unread signals.
  [[maybe_unused]] const ssize_t written = ::write(control_.get(), &byte, 1);
}

// The guard is dead, its ranks follow it by their parent-death signal, and what they had started is ours now.
void Guard::end_leftovers() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (;;) {
    std::set<pid_t> spared = own_children_;
    bool left = false;
    for (const Process& process : descendants()) {
      if (spared.contains(process.pid) || spared.contains(process.parent)) {
        spared.insert(process.pid);
        continue;
      }
      left = true;
      ::kill(process.pid, SIGKILL);
      if (process.parent == ::getpid()) ::waitpid(process.pid, nullptr, WNOHANG);
    }
    if (!left || std::chrono::steady_clock::now() > deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace shoal::detail

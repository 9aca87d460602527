#include "spawn.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "shoal/runtime/error.h"

namespace shoal::detail {
namespace {

void restore_signals() {
  struct sigaction as_default {};
  as_default.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction inherited {};
    ::sigaction(signal, nullptr, &inherited);
    const bool may_stay = signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
    if (may_stay && inherited.sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &as_default, nullptr);  // Refused for SIGKILL, SIGSTOP and the C library's own.
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

pid_t spawn_rank(int rank, const RankMain& rank_main) {
  const pid_t guard = ::getpid();
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0)
    throw Error(ErrorCode::system,
                "cannot start the process of rank " + std::to_string(rank) + ": " + std::strerror(errno));
  if (pid > 0) {
    // Also done by the child: whoever comes first, the group exists before anybody signals it.
    ::setpgid(pid, pid);
    return pid;
  }
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guard) ::_exit(128 + SIGKILL);  // The guard died before we asked to die with it.
  restore_signals();
  const int status = rank_main(rank);
  std::fflush(nullptr);
  ::_exit(status);
}

}  // namespace shoal::detail

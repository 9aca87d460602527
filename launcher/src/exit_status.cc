#include "exit_status.h"

#include <sys/wait.h>

#include <csignal>
#include <cstring>

namespace shoal::detail {

int exit_code_of_signal(int signal) { return 128 + signal; }

int exit_code_of_wait(int wait_status) {
  return WIFSIGNALED(wait_status) ? exit_code_of_signal(WTERMSIG(wait_status)) : WEXITSTATUS(wait_status);
}

int exit_code_of_failure(const FirstFailure& failure) {
  switch (failure.kind) {
    case FailureKind::exit:
    case FailureKind::mismatch:
      return failure.code != 0 ? failure.code : 1;
    case FailureKind::signal:
      return exit_code_of_signal(failure.code);
    case FailureKind::left:
      return 1;
    case FailureKind::timeout:
    case FailureKind::stall:
      return failure.rank < 0 ? kExitTimeout : (failure.code != 0 ? failure.code : 1);
  }
  return 1;
}

std::string signal_name(int signal) {
  const char* abbreviation = ::sigabbrev_np(signal);
  return abbreviation != nullptr ? std::string("SIG") + abbreviation : "signal " + std::to_string(signal);
}

FirstFailure failure_of_wait(int rank, int wait_status) {
  const std::string who = "rank " + std::to_string(rank);
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return {.rank = rank,
            .kind = FailureKind::signal,
            .code = signal,
            .message = who + " was ended by " + signal_name(signal)};
  }
  const int code = WEXITSTATUS(wait_status);
  return {.rank = rank,
          .kind = FailureKind::exit,
          .code = code,
          .message = who + " exited with status " + std::to_string(code)};
}

}  // namespace shoal::detail

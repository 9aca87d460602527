#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace shoal::bench {

/// Runs `body(rank)` in so many processes, which end with this one. Whether all of them got to its end.
template <class Body>
bool run_forked(int ranks, Body&& body) {
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t process = fork();
    if (process < 0) {
      std::perror("fork");
      return false;
    }
    if (process > 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      body(rank);
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
      _exit(1);
    }
  }
  bool ok = true;
  for (int status = 0; wait(&status) > 0;) ok = ok && status == 0;
  return ok;
}

}  // namespace shoal::bench

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shoal/runtime/job_segment.h"
#include "shoal/runtime/session.h"

namespace shoal {

struct LaunchOptions {
  std::uint64_t channel_bytes = JobShape{}.channel_bytes;
  std::uint64_t heap_bytes = JobShape{}.heap_bytes;
  std::chrono::milliseconds timeout{0};     ///< For the whole job; 0: none.
  std::chrono::milliseconds grace{10'000};  ///< From TERM to KILL for the ranks that outlive the first failure.
};

/// How one rank ended.
struct RankOutcome {
  int rank = 0;
  int exit_code = 0;          ///< Of the process; 128 + signal where a signal ended it.
  std::optional<int> signal;  ///< The signal that ended it.
  std::string error;          ///< what() of the exception that left `body`; empty where none did.
};

struct LaunchResult {
  int exit_code = 0;  ///< As shoalrun's: 0 if every rank gave 0, else of the rank that failed first; 124: timeout.
  std::optional<FirstFailure> first_failure;
  std::vector<RankOutcome> ranks;

  bool ok() const noexcept { return exit_code == 0; }
};

/// Forks `ranks` processes, runs `body` with a session in each, waits for all of them and for nothing else of theirs
/// to remain. A rank whose body returns exits 0; one whose body throws exits 1 and its text is handed back. Ranks
/// share this process's standard streams. Nothing that a rank does to itself harms the caller: it is a child.
///
/// Call it before starting threads (the children are made by fork without exec). Blocks; one launch at a time.
/// Throws Error: `invalid_argument` for ranks < 1, `system` if processes or memory cannot be had.
LaunchResult launch(int ranks, std::function<void(Session&)> body, LaunchOptions options = {});

}  // namespace shoal

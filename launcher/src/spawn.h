#pragma once

#include <sys/types.h>

#include <functional>

namespace shoal::detail {

/// What the new process of rank `rank` does once it is set up. It may return: then the process exits with the value.
using RankMain = std::function<int(int rank)>;

/// Forks rank `rank` of the job from this process, the guard. The child leads a process group of its own, dies with
/// the guard (SIGKILL), and has no signal blocked. Of those that shells and nohup have a program ignore (HUP, INT, QUIT,
/// TERM) it ignores what the launcher does, and no other. Throws Error `system`.
pid_t spawn_rank(int rank, const RankMain& rank_main);

}  // namespace shoal::detail

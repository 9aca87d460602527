#pragma once

#include <string>

#include "shoal/runtime/job_segment.h"

namespace shoal::detail {

inline constexpr int kExitUsage = 2;
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

/// 128 + number, as shells have it.
int exit_code_of_signal(int signal);
/// Of a process, from what waitpid gave: its status, or 128 + the signal that ended it.
int exit_code_of_wait(int wait_status);
/// Of a job that failed this way first.
int exit_code_of_failure(const FirstFailure& failure);

/// "SIGKILL"; "signal 77" for one without a name.
std::string signal_name(int signal);

/// The failure of a rank that ended with `wait_status`, which is not an exit with 0:
/// `rank 2 was ended by SIGKILL`, `rank 2 exited with status 3`.
FirstFailure failure_of_wait(int rank, int wait_status);

}  // namespace shoal::detail

#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace shoal::detail {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = 0;  ///< As /proc shows it: R running, S sleeping, T stopped, Z ended, ...
};

/// Empty if there is none of that number.
std::optional<Process> read_process(pid_t pid);

/// Every process below this one, children before grandchildren. A process that is its descendants' subreaper sees
/// here also those whose parents have ended. Reads /proc; empty where there is none.
std::vector<Process> descendants();

}  // namespace shoal::detail

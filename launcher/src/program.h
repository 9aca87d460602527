#pragma once

#include <optional>
#include <string>
#include <vector>

#include "descriptor.h"
#include "shoal/runtime/job_segment.h"

namespace shoal::detail {

/// Puts a program into the place of a rank's new process (exec), and tells the guard if that cannot be done: through a
/// pipe that a successful exec closes, so that a program that cannot be started and one that exits with 127 differ.
class Program {
 public:
  /// `arguments`: the program, looked up in the PATH of its environment, and what it gets. `directory`: where it runs;
  /// empty: here. Throws Error `system`.
  Program(std::vector<std::string> arguments, std::string directory);

  /// In the child. Returns only on failure, with the status to exit with.
  int become(std::vector<std::string> environment);

  /// In the guard, once the ranks are forked: why they could not be started, if they could not and it is known.
  std::optional<FirstFailure> failure();

 private:
  enum class Step : int { directory, program };
  struct Report {
    Step step = Step::program;
    int error = 0;
  };
  int report(Step step, int error);

  std::vector<std::string> arguments_;
  std::string directory_;
  Pipe reports_;
};

/// Of a program that exec refused with `error`: 127 if there is none, 126 if it cannot be executed.
int exit_code_of_exec(int error, bool exists);

}  // namespace shoal::detail

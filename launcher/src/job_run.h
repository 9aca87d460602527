#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "binding.h"
#include "command_line.h"
#include "descriptor.h"
#include "job_board.h"
#include "shoal/runtime/job_segment.h"

namespace shoal::detail {

/// One start of the job that a command line describes: its memory, its guard, its ranks, and what became of them.
class JobRun {
 public:
  /// `placement`: where each rank runs. `restarts`: how often the job was started before. Throws Error.
  JobRun(const CommandLine& line, const std::vector<Processors>& placement, int restarts);

  /// Runs it to its end. `arguments` is main's argv, which the guard hides: whoever kills shoalrun by its command line
  /// is to find shoalrun, not the process that clears up after it. Standard input is the job's; it is /dev/null
  /// afterwards.
  void run(std::span<char*> arguments);

  const JobSegment& segment() const { return segment_; }
  std::chrono::steady_clock::time_point begun() const { return begun_; }
  const JobBoard& board() const { return board_; }
  /// Of shoalrun, if this was the last start.
  int exit_code() const;
  /// Also where the job could not begin, or its guard was killed.
  std::optional<FirstFailure> first_failure() const;
  /// Whether starting the job again could help: a rank failed or time was up, and nobody asked for the end.
  bool worth_restarting() const;

 private:
  int supervise(std::span<char*> arguments, Descriptor control);

  const CommandLine& line_;
  const std::vector<Processors>& placement_;
  int restarts_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  JobSegment segment_;
  JobBoard board_;
  bool told_to_end_ = false;
};

}  // namespace shoal::detail

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "binding.h"
#include "input_route.h"
#include "shoal/runtime/job_segment.h"

namespace shoal::detail {

/// A program, and how many of the ranks run it.
struct RankProgram {
  int ranks = 1;
  std::vector<std::string> arguments;    ///< The program with its arguments, after those of --wrap.
  std::vector<std::string> environment;  ///< KEY=VALUE.
  std::string directory;                 ///< Where it runs; empty: here.
};

/// What the user asked shoalrun for, checked.
struct CommandLine {
  std::vector<RankProgram> programs;  ///< For ranks 0 and up, in this order.

  bool tag = false;
  bool timestamp = false;
  std::string log_directory;  ///< Empty: none.
  bool tee = false;
  std::optional<std::vector<int>> only_ranks;  ///< Whose output is shown; unset: that of all.
  InputRoute input;

  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds stall_timeout = std::chrono::minutes(10);
  std::chrono::milliseconds grace{10'000};
  int max_restarts = 0;

  std::uint64_t heap_bytes = JobShape{}.heap_bytes;
  std::uint64_t channel_bytes = JobShape{}.channel_bytes;
  Binding binding = Binding::automatic;
  bool report_bindings = false;

  std::string report;  ///< The file for the job report; empty: none; "-": standard output.
  bool dry_run = false;

  std::string to_print;  ///< For --help and --version: all that is to be done.

  int ranks() const;
  /// Of rank `rank`.
  const RankProgram& program_of(int rank) const;
  /// Whether standard output belongs to the report, and what else goes there goes to standard error.
  bool report_takes_output() const { return report == "-"; }
  JobShape shape() const { return {.ranks = ranks(), .channel_bytes = channel_bytes, .heap_bytes = heap_bytes}; }
};

/// A command line that cannot be; what() says why, in one line.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `allowed_cores`: what `-n auto` means. Throws UsageError, and Error `invalid_argument` for a job of impossible size.
CommandLine parse_command_line(int argc, const char* const* argv, int allowed_cores);

}  // namespace shoal::detail

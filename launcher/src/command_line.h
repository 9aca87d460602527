#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "shoal/runtime/job_segment.h"

namespace shoal::detail {

enum class Binding { automatic, core, none };

/// What the user asked shoalrun for, checked.
struct CommandLine {
  int ranks = 1;
  bool tag = false;
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds grace{10'000};
  std::vector<std::string> environment;  ///< KEY=VALUE.
  std::string directory;
  std::uint64_t heap_bytes = JobShape{}.heap_bytes;
  std::uint64_t channel_bytes = JobShape{}.channel_bytes;
  Binding binding = Binding::automatic;
  std::vector<std::string> program;  ///< With its arguments.

  std::string to_print;  ///< For --help and --version: all that is to be done.
};

/// A command line that cannot be; what() says why, in one line.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `allowed_cores`: what `-n auto` means. Throws UsageError.
CommandLine parse_command_line(int argc, const char* const* argv, int allowed_cores);

}  // namespace shoal::detail

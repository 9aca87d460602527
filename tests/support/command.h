#pragma once

#include <string>
#include <vector>

namespace shoal::test {

struct CommandResult {
  int exit_code = 0;  ///< 128 + signal where a signal ended it.
  std::string out;
  std::string err;
};

/// Runs a program (argv[0], looked up in PATH) to its end, standard input empty, and returns all that it wrote.
/// `environment` ("KEY=VALUE") is added to this process's. A program that cannot be started gives exit code 127.
CommandResult run_command(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {});

}  // namespace shoal::test

#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

namespace CLI {
class App;
}

namespace shoal {

class Session;

/// A command line that cannot be, as every rank finds alike; what() names the option.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What went wrong, as every rank has found alike, so that one of them tells it.
class AgreedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One of shoal's own programs.
struct Program {
  std::string name;
  /// Reads the command line, before there is a session. Returns what to print instead of running, as for --help.
  /// May throw UsageError.
  std::function<std::optional<std::string>()> parse;
  /// Runs as one rank and returns its exit status. May throw anything; UsageError and AgreedError only on all ranks
  /// alike.
  std::function<int(Session&)> run;
};

/// What main() does. Returns the exit status: that of `run`; 0 for a text asked for; 1 for an exception, 2 for
/// UsageError. What went wrong is one line on standard error, `shoal-demo: ...`, of the rank concerned; where all say
/// the same, of rank 0.
int run_program(const Program& program);

/// Parses by `app`, to which it adds --version: the common body of Program::parse.
std::optional<std::string> parse_command_line(CLI::App& app, int argc, const char* const* argv);

}  // namespace shoal

#include "command_line.h"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>

#include "shoal/runtime/units.h"
#include "shoal/runtime/version.h"

namespace shoal::detail {
namespace {

constexpr const char* kFooter = R"(
Options end at the program's name; what follows it is the program's own.

Exit status: 0 if every rank gave 0, else that of the rank that failed first (128 + signal for a signal; 1 for a rank
that left with 0 while others waited for it); 124 timeout; 126 the program cannot be executed; 127 it was not found;
2 usage; 128 + signal if shoalrun was told to end by one and not every rank gave 0.)";

int parse_ranks(const std::string& text, int allowed_cores) {
  if (text == "auto") return allowed_cores;
  int ranks = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, ranks);
  if (error != std::errc{} || rest != end || ranks < 1)
    throw UsageError("-n " + text + ": the number of ranks is 1 or more, or auto");
  return ranks;
}

std::chrono::milliseconds duration(const std::string& option, const std::string& text) {
  if (const auto value = parse_duration(text)) return *value;
  throw UsageError(option + " " + text + ": a duration is a number with ms, s or m, such as 500ms or 2s");
}

std::uint64_t bytes(const std::string& option, const std::string& text) {
  if (const auto value = parse_bytes(text)) return *value;
  throw UsageError(option + " " + text + ": a size is a number of bytes, or one with K, M or G");
}

// KEY alone passes on what KEY is here.
std::string environment_entry(const std::string& text) {
  const std::string key = text.substr(0, text.find('='));
  if (key.empty()) throw UsageError("-x " + text + ": a variable is KEY or KEY=VALUE");
  if (key.size() < text.size()) return text;
  const char* value = std::getenv(key.c_str());
  if (value == nullptr) throw UsageError("-x " + text + ": it is not set here, so there is no value to pass on");
  return key + "=" + value;
}

void check_directory(const std::string& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) throw UsageError("--wdir " + directory + ": " + std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) throw UsageError("--wdir " + directory + ": not a directory");
}

// CLI11 leaves here what follows the options: the program, or what it took for none of its options.
std::vector<std::string> program_of(std::vector<std::string> rest) {
  bool marked = false;
  if (!rest.empty() && rest.front() == "--") {
    marked = true;
    rest.erase(rest.begin());
  }
  if (rest.empty() || rest.front().empty()) throw UsageError("no program to run; see shoalrun --help");
  if (!marked && rest.front().starts_with('-'))
    throw UsageError("unknown option " + rest.front() + "; see shoalrun --help");
  return rest;
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv, int allowed_cores) {
  CommandLine line;
  std::string ranks = "auto";
  std::string timeout = "0";
  std::string grace = "10s";
  std::string heap = "1G";
  std::string channel = "256K";
  std::string bind = "auto";
  std::vector<std::string> variables;

  CLI::App app{
      "Runs a program as N ranks on this machine and looks after them.\nshoalrun [options] [--] program [args...]",
      "shoalrun"};
  app.footer(kFooter);
  app.prefix_command();
  app.set_version_flag("--version", "shoalrun " + std::string(kVersion));
  app.add_option("-n,--np", ranks, "Number of ranks, or auto: as many as allowed cores (auto)");
  app.add_flag("--tag", line.tag, "Begin each line of output with the rank that wrote it: [2] ...");
  app.add_option("--timeout", timeout, "End the job after this long (0: never)");
  app.add_option("--grace", grace, "Time from SIGTERM to SIGKILL for ranks that outlive the first failure (10s)");
  app.add_option("-x", variables, "KEY[=VALUE]: set a variable for the ranks, or pass it on; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--wdir", line.directory, "Directory in which the ranks run");
  app.add_option("--heap", heap, "Shared heap per rank (1G); only what is touched costs memory");
  app.add_option("--channel", channel, "Ring per ordered pair of ranks (256K)");
  app.add_option("--bind", bind,
                 "auto, core or none; auto: one rank a core if there are as many as allowed cores (auto)");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw UsageError(error.what());
    std::ostringstream text;
    app.exit(error, text, text);
    line.to_print = text.str();
    return line;
  }

  line.ranks = parse_ranks(ranks, allowed_cores);
  line.timeout = duration("--timeout", timeout);
  line.grace = duration("--grace", grace);
  for (const std::string& variable : variables) line.environment.push_back(environment_entry(variable));
  if (!line.directory.empty()) check_directory(line.directory);
  line.heap_bytes = bytes("--heap", heap);
  line.channel_bytes = bytes("--channel", channel);
  const std::map<std::string, Binding> bindings{
      {"auto", Binding::automatic}, {"core", Binding::core}, {"none", Binding::none}};
  if (!bindings.contains(bind)) throw UsageError("--bind " + bind + ": it is auto, core or none");
  line.binding = bindings.at(bind);
  line.program = program_of(app.remaining());
  return line;
}

}  // namespace shoal::detail

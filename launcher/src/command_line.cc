// A command line is one program's section, or several with ":" between them. The options of the job stand in the first.
#include "command_line.h"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include "shell_words.h"
#include "shoal/runtime/units.h"
#include "shoal/runtime/version.h"

namespace shoal::detail {
namespace {

constexpr const char* kFooter = R"(
Options end at the program's name; what follows it is the program's own, up to a lone ":", which begins another program
for further ranks with its own -n, -x, --wdir and --wrap. After -- everything is the program's own, ":" too.

Signals: INT, TERM and HUP are passed on to the ranks, which have the grace to end; a second one kills them. USR1 and
USR2 are passed on; TSTP and CONT stop and continue the job; QUIT prints which rank waits for which, in which call.

Exit status: 0 if every rank gave 0, else that of the rank that failed first (128 + signal for a signal; 1 for a rank
that left with 0 while others waited for it); 124 timeout or stall; 126 the program cannot be executed; 127 it was not
found; 2 usage; 128 + signal if shoalrun was told to end by one and not every rank gave 0.)";

int parse_ranks(const std::string& text, int allowed_cores) {
  if (text == "auto") return allowed_cores;
  int ranks = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, ranks);
  if (error != std::errc{} || rest != end || ranks < 1)
    throw UsageError("-n " + text + ": the number of ranks is 1 or more, or auto");
  return ranks;
}

/// `text` as a number from 0 on; empty for anything else.
std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
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

Binding binding(const std::string& text) {
  const std::map<std::string, Binding> bindings{
      {"auto", Binding::automatic}, {"core", Binding::core}, {"none", Binding::none}};
  if (!bindings.contains(text)) throw UsageError("--bind " + text + ": it is auto, core or none");
  return bindings.at(text);
}

InputRoute input_route(const std::string& text, int ranks) {
  if (text == "all") return {.to = InputRoute::To::all};
  if (text == "none") return {.to = InputRoute::To::none};
  const auto rank = number(text);
  if (!rank || *rank >= ranks)
    throw UsageError("--stdin " + text + ": it is a rank, 0 to " + std::to_string(ranks - 1) + ", all or none");
  return {.to = InputRoute::To::one, .rank = *rank};
}

// "0,4-7".
std::vector<int> rank_list(const std::string& text, int ranks) {
  std::vector<int> list;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = number(std::string_view(part).substr(0, dash));
    const auto last = dash == std::string::npos ? first : number(std::string_view(part).substr(dash + 1));
    if (!first || !last || *first > *last || *last >= ranks)
      throw UsageError("--only-rank " + text + ": a list of ranks from 0 to " + std::to_string(ranks - 1) +
                       ", such as 0,2-3");
    for (int rank = *first; rank <= *last; ++rank) list.push_back(rank);
  }
  return list;
}

/// The options that each program has for itself, as they are written.
struct ProgramOptions {
  std::string ranks;
  std::vector<std::string> variables;
  std::string directory;
  std::string wrapper;

  void add_to(CLI::App& app) {
    app.add_option("-n,--np", ranks, "Number of ranks, or auto: as many as allowed cores (auto)");
    app.add_option("-x", variables, "KEY[=VALUE]: set a variable for the ranks, or pass it on; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--wdir", directory, "Directory in which the ranks run");
    app.add_option("--wrap", wrapper, "Start each rank under this command: 'valgrind -q', 'gdb -ex run --args'");
  }

  RankProgram program(std::vector<std::string> arguments, int allowed_cores) const {
    RankProgram program;
    program.ranks = parse_ranks(ranks.empty() ? "auto" : ranks, allowed_cores);
    for (const std::string& variable : variables) program.environment.push_back(environment_entry(variable));
    if (!directory.empty()) check_directory(directory);
    program.directory = directory;
    const auto wrapping = shell_words(wrapper);
    if (!wrapping) throw UsageError("--wrap " + wrapper + ": a quote is not closed");
    program.arguments = *wrapping;
    program.arguments.insert(program.arguments.end(), arguments.begin(), arguments.end());
    return program;
  }
};

/// The options of the whole job, as they are written.
struct JobOptions {
  std::string timeout = "0";
  std::string stall_timeout = "10m";
  std::string grace = "10s";
  std::string heap = "1G";
  std::string channel = "256K";
  std::string bind = "auto";
  std::string input = "0";
  std::string only_ranks;
  std::string restarts = "0";

  void add_to(CLI::App& app, CommandLine& line) {
    app.add_option("--bind", bind,
                   "auto, core or none; auto: one rank a core if there are as many as allowed cores (auto)");
    app.add_flag("--report-bindings", line.report_bindings, "Say where each rank runs");
    app.add_flag("--tag", line.tag, "Begin each line of output with the rank that wrote it: [2] ...");
    app.add_flag("--timestamp", line.timestamp, "Begin each line of output with the time: 14:03:59.125 ...");
    app.add_option("--log-dir", line.log_directory, "Write the output of rank R to rank.R.out and rank.R.err there");
    app.add_flag("--tee", line.tee, "With --log-dir: show the output, too");
    app.add_option("--only-rank", only_ranks, "Show only the output of these ranks: 0,4-7");
    app.add_option("--stdin", input, "Who reads standard input: a rank, all or none (0)");
    app.add_option("--timeout", timeout, "End the job after this long (0: never)");
    app.add_option("--stall-timeout", stall_timeout,
                   "End the job if its collective calls make no progress for this long (10m; 0: never)");
    app.add_option("--grace", grace, "Time from SIGTERM to SIGKILL for ranks that outlive the first failure (10s)");
    app.add_option("--max-restarts", restarts,
                   "After a failure start the whole job again, this many times, SHOAL_RESTART_COUNT set (0)");
    app.add_option("--heap", heap, "Shared heap per rank (1G); only what is touched costs memory");
    app.add_option("--channel", channel, "Ring per ordered pair of ranks (256K)");
    app.add_option("--report", line.report, "Write what became of the job to this file, as JSON; -: standard output");
    app.add_flag("--dry-run", line.dry_run, "Print what would be started, and start nothing");
  }

  void apply_to(CommandLine& line) const {
    line.heap_bytes = bytes("--heap", heap);
    line.channel_bytes = bytes("--channel", channel);
    static_cast<void>(JobSegment::bytes_needed(line.shape()));  // Refuses what no job can have.
    const int ranks = line.ranks();
    line.timeout = duration("--timeout", timeout);
    line.stall_timeout = duration("--stall-timeout", stall_timeout);
    line.grace = duration("--grace", grace);
    line.binding = binding(bind);
    line.input = input_route(input, ranks);
    if (!only_ranks.empty()) line.only_ranks = rank_list(only_ranks, ranks);
    if (line.tee && line.log_directory.empty()) throw UsageError("--tee: there is no --log-dir");
    const auto times = number(restarts);
    if (!times) throw UsageError("--max-restarts " + restarts + ": it is a number from 0 on");
    line.max_restarts = *times;
  }
};

/// What CLI11 leaves of a section: the program, or what it took for none of its options, and all that follows.
struct Rest {
  std::vector<std::string> program;
  std::vector<std::string> next_sections;  // Empty: this was the last.
};

Rest split(std::vector<std::string> rest, const std::string& where) {
  const bool marked = !rest.empty() && rest.front() == "--";
  if (marked) rest.erase(rest.begin());
  const auto colon = marked ? rest.end() : std::ranges::find(rest, ":");
  Rest parts{.program = {rest.begin(), colon}, .next_sections = {}};
  if (parts.program.empty() || parts.program.front().empty())
    throw UsageError("no program to run" + where + "; see shoalrun --help");
  if (!marked && parts.program.front().starts_with('-'))
    throw UsageError("unknown option " + parts.program.front() + where + "; see shoalrun --help");
  if (colon == rest.end()) return parts;
  parts.next_sections.assign(colon + 1, rest.end());
  if (parts.next_sections.empty()) throw UsageError("no program to run after :; see shoalrun --help");
  return parts;
}

// Of an option that was given twice CLI11 says "--np: At Most 1 required but received 2".
std::string text_of(const CLI::ParseError& error, const CLI::App& app) {
  const bool of_number = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  for (const CLI::Option* option : app.get_options())
    if (of_number && option->count() > 1 && option->get_type_size() > 0 && option->get_expected_max() == 1)
      return option->get_name(false, true) + ": given more than once";
  return error.what();
}

// CLI11 takes them from the back.
void parse(CLI::App& app, std::vector<std::string> arguments) {
  std::ranges::reverse(arguments);
  app.parse(std::move(arguments));
}

}  // namespace

int CommandLine::ranks() const {
  const auto sum =
      std::accumulate(programs.begin(), programs.end(), std::int64_t{0},
                      [](std::int64_t so_far, const RankProgram& program) { return so_far + program.ranks; });
  return static_cast<int>(std::min<std::int64_t>(sum, std::numeric_limits<int>::max()));
}

const RankProgram& CommandLine::program_of(int rank) const {
  auto program = programs.begin();
  while (rank >= program->ranks) rank -= (program++)->ranks;
  return *program;
}

CommandLine parse_command_line(int argc, const char* const* argv, int allowed_cores) {
  CommandLine line;
  JobOptions job;
  std::vector<std::string> section(argv + 1, argv + argc);
  bool several = false;
  do {
    CLI::App app{
        "Runs a program as N ranks on this machine and looks after them.\nshoalrun [options] [--] program [args...]",
        "shoalrun"};
    ProgramOptions options;
    app.prefix_command();
    options.add_to(app);
    if (!several) {
      app.footer(kFooter);
      app.set_version_flag("--version", "shoalrun " + std::string(kVersion));
      job.add_to(app, line);
    }
    try {
      parse(app, section);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() != 0) throw UsageError(text_of(error, app));
      std::ostringstream text;
      app.exit(error, text, text);
      line.to_print = text.str();
      return line;
    }
    // CLI11 takes an empty value for none.
    if (options.ranks.empty() && app.count("-n") > 0) throw UsageError("-n: the number of ranks is 1 or more, or auto");
    if (!several && job.only_ranks.empty() && app.count("--only-rank") > 0)
      throw UsageError("--only-rank: a list of ranks, such as 0,2-3");
    Rest rest = split(app.remaining(), several ? " after : (where only -n, -x, --wdir and --wrap stand)" : "");
    several = several || !rest.next_sections.empty();
    if (several && options.ranks.empty()) throw UsageError("-n: each of several programs needs its number of ranks");
    line.programs.push_back(options.program(std::move(rest.program), allowed_cores));
    section = std::move(rest.next_sections);
  } while (!section.empty());
  job.apply_to(line);
  return line;
}

}  // namespace shoal::detail

// shoalrun: runs a program as N ranks. This process only parses, starts the job's guard, relays to it what shell and
// keyboard send, and reports; the guard does the work (guard.h, relay.h, supervisor.h).
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "binding.h"
#include "command_line.h"
#include "complain.h"
#include "descriptor.h"
#include "dry_run.h"
#include "exit_status.h"
#include "job_report.h"
#include "job_run.h"
#include "shoal/runtime/cores.h"
#include "shoal/runtime/error.h"

namespace shoal::detail {
namespace {

// Otherwise the first pipe that we make would become somebody's standard output.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY);
}

void note_if_crowded(int ranks, const AllowedCores& allowed) {
  if (ranks <= allowed.count()) return;
  complain("note: " + std::to_string(ranks) + " ranks take turns on " + std::to_string(allowed.count()) +
           (allowed.count() == 1 ? " core" : " cores"));
}

int exit_code_of(const Error& error) { return error.code() == ErrorCode::invalid_argument ? kExitUsage : 1; }

// Whoever waits for a report finds one, whatever becomes of the job.
void prepare(std::optional<JobRun>& job, const CommandLine& line, const std::vector<Processors>& placement,
             int restarts) try {
  job.emplace(line, placement, restarts);
} catch (const Error& error) {
  if (!line.report.empty())
    write_report_of_refusal(line.report, line.ranks(), restarts, exit_code_of(error), error.what());
  throw;
}

int run(const CommandLine& line, const std::vector<Processors>& placement, std::span<char*> arguments) {
  const auto begun = std::chrono::steady_clock::now();
  Descriptor input;  // For later starts, which go on reading where the first left off.
  if (line.max_restarts > 0) input = Descriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  std::optional<JobRun> job;
  int restarts = 0;
  for (;; ++restarts) {
    prepare(job, line, placement, restarts);
    job->run(arguments);
    if (restarts == line.max_restarts || !job->worth_restarting()) break;
    complain("starts the job again (" + std::to_string(restarts + 1) + " of " + std::to_string(line.max_restarts) +
             ")");
    ::dup2(input.get(), STDIN_FILENO);
  }
  if (!line.report.empty() && !write_report(line.report, *job, restarts, std::chrono::steady_clock::now() - begun)) {
    complain("cannot write the report " + line.report + ": " + std::strerror(errno));
    return job->exit_code() == 0 ? 1 : job->exit_code();
  }
  return job->exit_code();
}

int print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  complain(std::string("cannot write to standard output: ") + std::strerror(errno));
  return 1;
}

int plan_and_run(const CommandLine& line, const AllowedCores& allowed, std::span<char*> arguments) {
  // Looking at the machine takes some milliseconds: only where it matters.
  const bool may_bind = line.binding == Binding::core ||
                        (line.binding == Binding::automatic && line.ranks() <= static_cast<int>(allowed.cores.size()));
  const auto cores = may_bind ? allowed_topology(allowed) : std::vector<Core>();
  const auto placement = place_ranks(line.binding, line.ranks(), cores, allowed.count());
  if (line.dry_run) return print(describe_job(line, allowed, cores, placement));
  check_report_file(line.report);
  note_if_crowded(line.ranks(), allowed);
  if (line.report_bindings)
    for (int rank = 0; rank < line.ranks(); ++rank)
      complain(describe_binding(rank, placement[static_cast<std::size_t>(rank)], cores));
  return run(line, placement, arguments);
}

int main_of_shoalrun(int argc, char** argv) {
  try {
    open_standard_streams();
    ::signal(SIGXFSZ, SIG_IGN);  // A limit on files binds shared memory too: to be told, not to die of.
    const AllowedCores allowed = allowed_cores();
    const CommandLine line = parse_command_line(argc, argv, allowed.count());
    if (!line.to_print.empty()) return print(line.to_print);
    return plan_and_run(line, allowed, std::span(argv, static_cast<std::size_t>(argc)));
  } catch (const UsageError& error) {
    complain(error.what());
    return kExitUsage;
  } catch (const Error& error) {
    complain(error.what());
    return exit_code_of(error);
  } catch (const std::exception& error) {
    complain(error.what());
    return 1;
  }
}

}  // namespace
}  // namespace shoal::detail

int main(int argc, char** argv) { return shoal::detail::main_of_shoalrun(argc, argv); }

// shoalrun: runs a program as N ranks. This process only parses, starts the guard, hands signals on to it and reports
// its result; the guard does the work (guard.h, supervisor.h).
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "binding.h"
#include "command_line.h"
#include "exit_status.h"
#include "guard.h"
#include "job_board.h"
#include "output_router.h"
#include "program.h"
#include "rank_environment.h"
#include "shoal/runtime/cores.h"
#include "shoal/runtime/error.h"
#include "shoal/runtime/job_segment.h"
#include "supervisor.h"

namespace shoal::detail {
namespace {

void complain(const std::string& text) { std::fprintf(stderr, "shoalrun: %s\n", text.c_str()); }

// Otherwise the first pipe that we make would become somebody's standard output.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY);
}

void read_nothing() {
  const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (null.open()) ::dup2(null.get(), STDIN_FILENO);
}

// A job in the background of a terminal must leave what is typed to the shell. Only this process can tell, the guard
// has no terminal.
bool input_is_for_others() {
  const pid_t foreground = ::tcgetpgrp(STDIN_FILENO);
  return foreground >= 0 && foreground != ::getpgrp();
}

// Two pipes a rank soon exceed the usual soft limit. Returns what it was: ranks get that.
rlimit raise_descriptor_limit(int ranks) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &raised);
  const rlim_t needed =
      4 * static_cast<rlim_t>(ranks) + 32;  // Both ends until the ranks are forked; and a few of ours.
  if (raised.rlim_cur < needed)
    throw Error(ErrorCode::system, std::to_string(ranks) + " ranks need " + std::to_string(needed) +
                                       " open files, and the limit is " + std::to_string(raised.rlim_cur) +
                                       " (ulimit -n)");
  return limit;
}

// Whoever kills shoalrun by its command line is to find shoalrun, not the guard that clears up after it. `arguments` is
// main's argv, which the kernel shows as the command line; its strings lie one behind the other.
void hide_command_line(std::span<char*> arguments) {
  if (arguments.empty()) return;
  char* begin = arguments.front();
  const auto size = static_cast<std::size_t>(arguments.back() + std::strlen(arguments.back()) - begin);
  std::memset(begin, 0, size);
  std::string_view(kGuardName).copy(begin, size);
}

/// All that the guard needs to run the job.
struct Job {
  const CommandLine& line;
  const AllowedCores& allowed;
  const JobSegment& segment;
  JobBoard& board;
  bool no_input = false;
  std::span<char*> arguments;
};

int supervise(const Job& job, Descriptor control) {
  hide_command_line(job.arguments);
  const rlimit descriptor_limit = raise_descriptor_limit(job.line.ranks);
  OutputRouter output(job.line.ranks, job.line.tag);
  Program program(job.line.program, job.line.directory);
  const auto inherited = current_environment();

  JobPlan plan;
  plan.ranks = job.line.ranks;
  plan.timeout = job.line.timeout;
  plan.grace = job.line.grace;
  plan.end_strangers_at_once = true;
  plan.start_failure = [&program] { return program.failure(); };
  plan.rank_main = [&](int rank) {
    if (rank != 0 || job.no_input) read_nothing();
    output.attach(rank);
    ::setrlimit(RLIMIT_NOFILE, &descriptor_limit);
    if (const auto core = core_of_rank(job.line.binding, rank, job.line.ranks, job.allowed)) bind_to_core(*core);
    ::fcntl(job.segment.descriptor(), F_SETFD, 0);  // The one descriptor that a rank is to inherit.
    return program.become(rank_environment(inherited, job.line.environment,
                                           {.rank = rank, .world = job.line.ranks, .job = job.segment.reference()}));
  };
  auto ranks = spawn_ranks(plan);
  read_nothing();
  return Supervisor(job.segment, job.board, plan, output, std::move(ranks), std::move(control)).run();
}

// Blocked in this process, so that the guard's waiting loop takes them. Under nohup SIGHUP stays
// ignored, and SIGTSTP where there is no job control.
sigset_t block_signals() {
  ::signal(SIGCHLD, SIG_DFL);
  ::signal(SIGXFSZ, SIG_IGN);  // A limit on files binds shared memory too: to be told, not to die of.
  sigset_t forwarded;
  sigemptyset(&forwarded);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT}) sigaddset(&forwarded, signal);
  for (const int signal : {SIGHUP, SIGTSTP}) {
    struct sigaction inherited {};
    ::sigaction(signal, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) sigaddset(&forwarded, signal);
  }
  sigset_t blocked = forwarded;
  sigaddset(&blocked, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  return forwarded;
}

int run(const CommandLine& line, const AllowedCores& allowed, std::span<char*> arguments) {
  const sigset_t forwarded = block_signals();
  const JobSegment segment =
      JobSegment::create({.ranks = line.ranks, .channel_bytes = line.channel_bytes, .heap_bytes = line.heap_bytes});
  if (line.ranks > allowed.count())
    complain("note: " + std::to_string(line.ranks) + " ranks take turns on " + std::to_string(allowed.count()) +
             (allowed.count() == 1 ? " core" : " cores"));
  JobBoard board(line.ranks);
  const Job job{.line = line,
                .allowed = allowed,
                .segment = segment,
                .board = board,
                .no_input = input_is_for_others(),
                .arguments = arguments};
  Guard guard([&job](Descriptor control) {
    try {
      return supervise(job, std::move(control));
    } catch (const std::exception& error) {
      job.board.refuse(error.what());
      return 1;
    }
  });
  read_nothing();  // Who feeds rank 0 is to notice when that stops reading.
  guard.wait_and_forward(forwarded);
  if (!board.refusal().empty()) {
    complain(board.refusal());
    return 1;
  }
  if (!board.finished()) {
    complain("the guard of the job was killed, and the job with it");
    return exit_code_of_signal(SIGKILL);
  }
  return board.exit_code();
}

int main_of_shoalrun(int argc, char** argv) {
  try {
    open_standard_streams();
    const AllowedCores allowed = allowed_cores();
    const CommandLine line = parse_command_line(argc, argv, allowed.count());
    if (line.to_print.empty()) return run(line, allowed, std::span(argv, static_cast<std::size_t>(argc)));
    std::fputs(line.to_print.c_str(), stdout);
    return 0;
  } catch (const UsageError& error) {
    complain(error.what());
    return kExitUsage;
  } catch (const Error& error) {
    complain(error.what());
    return error.code() == ErrorCode::invalid_argument ? kExitUsage : 1;
  } catch (const std::exception& error) {
    complain(error.what());
    return 1;
  }
}

}  // namespace
}  // namespace shoal::detail

int main(int argc, char** argv) { return shoal::detail::main_of_shoalrun(argc, argv); }

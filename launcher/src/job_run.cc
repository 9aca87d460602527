#include "job_run.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "complain.h"
#include "exit_status.h"
#include "guard.h"
#include "output_router.h"
#include "program.h"
#include "rank_environment.h"
#include "rank_input.h"
#include "relay.h"
#include "shoal/runtime/error.h"
#include "supervisor.h"

namespace shoal::detail {
namespace {

constexpr const char* kGuardKilled = "the guard of the job was killed, and the job with it";

// Two pipes a rank, a third for input to all, two log files and a process handle soon exceed the usual soft limit.
// Returns what it was: ranks get that.
rlimit raise_descriptor_limit(const CommandLine& line) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &raised);
  // Both ends of the pipes until the ranks are forked; and a few of ours.
  const rlim_t of_a_rank =
      4U + (line.input.to == InputRoute::To::all ? 2U : 0U) + (line.log_directory.empty() ? 0U : 2U);
  const rlim_t needed = of_a_rank * static_cast<rlim_t>(line.ranks()) + 32;
  if (raised.rlim_cur < needed)
    throw Error(ErrorCode::system, std::to_string(line.ranks()) + " ranks need " + std::to_string(needed) +
                                       " open files, and the limit is " + std::to_string(raised.rlim_cur) +
                                       " (ulimit -n)");
  return limit;
}

// The kernel shows what argv holds as the command line; its strings lie one behind the other.
void hide_command_line(std::span<char*> arguments) {
  if (arguments.empty()) return;
  char* begin = arguments.front();
  const auto size = static_cast<std::size_t>(arguments.back() + std::strlen(arguments.back()) - begin);
  std::memset(begin, 0, size);
  std::string_view(kGuardName).copy(begin, size);
}

OutputOptions output_options(const CommandLine& line, int restarts) {
  return {.standard_output = line.report_takes_output() ? STDERR_FILENO : STDOUT_FILENO,
          .tag = line.tag,
          .timestamp = line.timestamp,
          .show = line.log_directory.empty() || line.tee,
          .only_ranks = line.only_ranks,
          .log_directory = line.log_directory,
          .append_to_logs = restarts > 0};
}

}  // namespace

JobRun::JobRun(const CommandLine& line, const std::vector<Processors>& placement, int restarts)
    : line_(line),
      placement_(placement),
      restarts_(restarts),
      segment_(JobSegment::create(line.shape())),
      board_(line.ranks()) {
  segment_.survive_cuts();
}

void JobRun::run(std::span<char*> arguments) {
  const sigset_t forwarded = Relay::block_signals();
  Pipe typed;  // What a terminal's keyboard gives goes through this process.
  if (line_.input.to != InputRoute::To::none && ::isatty(STDIN_FILENO) == 1) typed = make_pipe("standard input");
  Guard guard([&](Descriptor control) {
    try {
      if (typed.read.open()) ::dup2(typed.read.get(), STDIN_FILENO);
      typed = Pipe{};
      return supervise(arguments, std::move(control));
    } catch (const std::exception& error) {
      board_.refuse(error.what());
      return 1;
    }
  });
  typed.read.close();
  if (!typed.write.open()) read_nothing();  // Who feeds a rank is to notice when that stops reading.
  Relay relay(guard, forwarded, std::move(typed.write));
  relay.run();
  told_to_end_ = relay.told_to_end();
  guard.wait();
  read_nothing();
  if (!board_.refusal().empty()) {
    complain(board_.refusal());
  } else if (!board_.finished()) {
    complain(kGuardKilled);
  }
}

int JobRun::supervise(std::span<char*> arguments, Descriptor control) {
  hide_command_line(arguments);
  const rlimit descriptor_limit = raise_descriptor_limit(line_);
  OutputRouter output(line_.ranks(), output_options(line_, restarts_));
  RankInput input(line_.input, line_.ranks());
  std::deque<Program> programs;
  for (const RankProgram& program : line_.programs) programs.emplace_back(program.arguments, program.directory);
  const auto inherited = current_environment();

  JobPlan plan;
  plan.ranks = line_.ranks();
  plan.timeout = line_.timeout;
  plan.stall_timeout = line_.stall_timeout;
  plan.grace = line_.grace;
  plan.end_strangers_at_once = true;
  plan.begin = [&input](boost::asio::io_context& loop) { input.start(loop); };
  plan.end = [&input] { input.stop(); };
  plan.start_failure = [&programs] {
    std::optional<FirstFailure> failure;
    for (Program& program : programs)
      if (!failure) failure = program.failure();
    return failure;
  };
  plan.rank_main = [&](int rank) {
    const RankProgram& program = line_.program_of(rank);
    input.attach(rank);
    output.attach(rank);
    ::setrlimit(RLIMIT_NOFILE, &descriptor_limit);
    const Processors& processors = placement_[static_cast<std::size_t>(rank)];
    if (!processors.empty()) bind_to(processors);
    ::fcntl(segment_.descriptor(), F_SETFD, 0);  // The one descriptor that a rank is to inherit.
    const RankPlace place{.rank = rank,
                          .world = line_.ranks(),
                          .job = segment_.reference(),
                          .restarts = restarts_,
                          .terminal = output.shows_on_terminal()};
    return programs[static_cast<std::size_t>(&program - line_.programs.data())].become(
        rank_environment(inherited, program.environment, place));
  };
  auto ranks = spawn_ranks(plan);
  return Supervisor(segment_, board_, plan, output, std::move(ranks), std::move(control)).run();
}

int JobRun::exit_code() const {
  if (board_.refusal().empty() && board_.finished()) return board_.exit_code();
  return exit_code_of_failure(*first_failure());
}

std::optional<FirstFailure> JobRun::first_failure() const {
  if (!board_.refusal().empty())
    return FirstFailure{.rank = -1, .kind = FailureKind::exit, .code = 1, .message = board_.refusal()};
  if (board_.finished()) return board_.first_failure();
  return FirstFailure{.rank = -1, .kind = FailureKind::signal, .code = SIGKILL, .message = kGuardKilled};
}

bool JobRun::worth_restarting() const {
  const auto failure = board_.first_failure();
  return board_.finished() && !board_.interrupted() && !told_to_end_ && failure &&
         (failure->rank >= 0 || failure->kind == FailureKind::timeout || failure->kind == FailureKind::stall);
}

}  // namespace shoal::detail

#include "shoal/launcher/launch.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>

#include "exit_status.h"
#include "guard.h"
#include "job_board.h"
#include "job_output.h"
#include "shoal/runtime/error.h"
#include "supervisor.h"

namespace shoal {
namespace {

using detail::Descriptor;
using detail::JobBoard;

// More than shoalrun gives: here the texts of the ranks' errors are the result.
constexpr std::chrono::milliseconds kCourtesy{1000};

int run_body(const JobSegment& segment, JobBoard& board, int rank, const std::function<void(Session&)>& body) {
  int status = 0;
  try {
    Session session(segment, rank);
    body(session);
  } catch (const std::exception& error) {
    board.set_error(rank, error.what());
    status = 1;
  } catch (...) {
    board.set_error(rank, "an exception that is no std::exception");
    status = 1;
  }
  std::cout.flush();
  std::cerr.flush();
  return status;
}

RankOutcome outcome_of(const JobBoard& board, int rank) {
  RankOutcome outcome{.rank = rank, .exit_code = 0, .signal = std::nullopt, .error = board.error(rank)};
  // A rank that never ended in the guard's sight was ended with the guard.
  const int status = board.wait_status(rank).value_or(SIGKILL);
  outcome.exit_code = detail::exit_code_of_wait(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

}  // namespace

LaunchResult launch(int ranks, std::function<void(Session&)> body, LaunchOptions options) {
  const JobSegment segment =
      JobSegment::create({.ranks = ranks, .channel_bytes = options.channel_bytes, .heap_bytes = options.heap_bytes});
  JobBoard board(ranks);
  std::cout.flush();
  std::cerr.flush();

  std::array<char, 16> name{};
  ::prctl(PR_GET_NAME, name.data());
  detail::Guard guard([&](Descriptor control) {
    detail::JobPlan plan;
    plan.ranks = ranks;
    plan.timeout = options.timeout;
    plan.grace = options.grace;
    plan.courtesy = kCourtesy;
    const int held_by_guard = control.get();
    plan.rank_main = [&, held_by_guard](int rank) {
      ::close(held_by_guard);
      ::prctl(PR_SET_NAME, name.data());  // Not the guard's.
      return run_body(segment, board, rank, body);
    };
    try {
      detail::NoJobOutput output;
      auto processes = detail::spawn_ranks(plan);
      return detail::Supervisor(segment, board, plan, output, std::move(processes), std::move(control)).run();
    } catch (const std::exception& error) {
      board.refuse(error.what());
      return 1;
    }
  });
  guard.wait();

  if (!board.refusal().empty()) throw Error(ErrorCode::system, board.refusal());
  LaunchResult result;
  if (board.finished()) {
    result.exit_code = board.exit_code();
    result.first_failure = board.first_failure();
  } else {
    result.first_failure = FirstFailure{
        .rank = -1, .kind = FailureKind::signal, .code = SIGKILL, .message = "the guard of the job was killed"};
    result.exit_code = detail::exit_code_of_failure(*result.first_failure);
  }
  for (int rank = 0; rank < ranks; ++rank) result.ranks.push_back(outcome_of(board, rank));
  return result;
}

}  // namespace shoal

// shoal-train: sharded training of an MLP. Rank 0 speaks for all where all would say the same.

#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "shoal/shoal.h"
#include "train/gradcheck.h"
#include "train/input_error.h"
#include "train/options.h"
#include "train/run.h"

namespace shoal::train {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

/// Before there is a session: SHOAL_RANK, 0 where there is no launcher.
std::string rank_by_environment() {
  const char* rank = std::getenv("SHOAL_RANK");
  return rank == nullptr ? "0" : rank;
}

bool is_rank_0_by_environment() { return rank_by_environment() == "0"; }

void say(const std::string& message) { std::cerr << "shoal-train: " + message + "\n" << std::flush; }

/// Of a mistake that all ranks find alike, rank 0 speaks. The others wait for that, for the first rank that fails has
/// the launcher end all others: what they wait for never comes, and they hear that rank 0 has left.
int refuse(Communicator& comm, const std::string& message) {
  if (comm.rank() == 0) {
    say(message);
    return kUsage;
  }
  try {
    barrier(comm);
  } catch (const Error&) {
    return kUsage;
  }
  return kUsage;
}

int refuse_command_line(const std::string& message) {
  if (is_rank_0_by_environment()) {
    say(message);
    return kUsage;
  }
  Session session;
  return refuse(session.world(), message);
}

int run(Communicator& comm, const CommandLine& line) {
  if (line.train) return run_training(comm, *line.train);
  if (comm.size() > 1) throw UsageError("gradcheck runs in one process, without shoalrun or with -n 1");
  std::cout << run_gradcheck(comm, *line.gradcheck) << std::flush;
  if (!std::cout) throw InputError("standard output", "cannot be written");
  return 0;
}

int run_in_session(const CommandLine& line) {
  try {
    Session session;
    try {
      return run(session.world(), line);
    } catch (const UsageError& error) {
      return refuse(session.world(), error.what());
    }
  } catch (const Error& error) {
    // A rank that merely hears of another's failure leaves the telling to that one and to the launcher.
    if (error.code() != ErrorCode::broken && error.code() != ErrorCode::peer_lost) say(error.what());
  } catch (const std::bad_alloc&) {
    say("rank " + rank_by_environment() + ": not enough memory");
  } catch (const std::exception& error) {
    say(error.what());
  }
  return kFailed;
}

int run_program(int argc, const char* const* argv) {
  CommandLine line;
  try {
    line = parse_command_line(argc, argv);
  } catch (const UsageError& error) {
    return refuse_command_line(error.what());
  }
  if (line.text) {
    if (is_rank_0_by_environment()) std::cout << *line.text << std::flush;
    return std::cout ? 0 : kFailed;
  }
  return run_in_session(line);
}

}  // namespace
}  // namespace shoal::train

int main(int argc, char** argv) { return shoal::train::run_program(argc, argv); }

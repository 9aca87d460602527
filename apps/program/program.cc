// The frame of every program of ranks. Under shoalrun each rank runs all of this; the first rank that fails has the
// others ended, so whoever has nothing to say must not be the first.
#include "program/program.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string_view>
#include <thread>

#include "shoal/collectives/barrier.h"
#include "shoal/runtime/session.h"
#include "shoal/runtime/version.h"

namespace shoal {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

/// What SHOAL_RANK says, before there is a session; 0 where there is no launcher.
std::string_view rank_by_environment() {
  const char* const rank = std::getenv("SHOAL_RANK");
  return rank == nullptr ? "0" : rank;
}

int fail(const Program& program, const std::string& text, int status) {
  std::cerr << program.name + ": " + text + "\n" << std::flush;
  return status;
}

/// All ranks come here with the same error. Rank 0 tells it; the others wait until it has, or is gone: it leaves before
/// there is a session where the command line is to blame.
int refuse(const Program& program, Communicator& comm, const std::string& text, int status) {
  if (comm.rank() == 0) fail(program, text, status);
  try {
    barrier(comm);
  } catch (const Error&) {
    return status;
  }
  return status;
}

/// The environment is to blame, which is the same for all ranks, so that none has a session and rank 0 alone tells it.
/// The others leave time for that, in which the launcher, if there is one, ends them.
int refuse_environment(const Program& program, const Error& error) {
  constexpr std::chrono::seconds kTimeToTell{5};
  if (rank_by_environment() == "0") return fail(program, error.what(), kFailed);
  std::this_thread::sleep_for(kTimeToTell);
  return kFailed;
}

int run_in_session(const Program& program, Session& session) {
  int status = 0;
  try {
    status = program.run(session);
  } catch (const UsageError& error) {
    return refuse(program, session.world(), error.what(), kUsage);
  } catch (const AgreedError& error) {
    return refuse(program, session.world(), error.what(), kFailed);
  }
  if (!std::cout.flush()) return fail(program, "standard output cannot be written", kFailed);
  return status;
}

int run_guarded(const Program& program) {
  std::optional<std::string> text;
  std::optional<UsageError> mistake;
  try {
    text = program.parse();
  } catch (const UsageError& error) {
    mistake = error;
  }
  if (mistake && rank_by_environment() == "0") return fail(program, mistake->what(), kUsage);
  if (text) {
    if (rank_by_environment() == "0") std::cout << *text << std::flush;
    return std::cout ? 0 : fail(program, "standard output cannot be written", kFailed);
  }
  bool joined = false;
  try {
    Session session;
    joined = true;
    return mistake ? refuse(program, session.world(), mistake->what(), kUsage) : run_in_session(program, session);
  } catch (const Error& error) {
    if (joined || error.code() != ErrorCode::invalid_argument) throw;
    return refuse_environment(program, error);
  }
}

}  // namespace

int run_program(const Program& program) {
  try {
    return run_guarded(program);
  } catch (const Error& error) {
    // A rank that only hears of another's failure leaves the telling to that one and to the launcher.
    if (error.code() == ErrorCode::broken || error.code() == ErrorCode::peer_lost) return kFailed;
    return fail(program, error.what(), kFailed);
  } catch (const std::bad_alloc& error) {
    const bool says_more = error.what() != std::string_view(std::bad_alloc().what());  // As the shared heap's does.
    return fail(program,
                says_more ? error.what() : "rank " + std::string(rank_by_environment()) + ": not enough memory",
                kFailed);
  } catch (const std::exception& error) {
    return fail(program, error.what(), kFailed);
  }
}

std::optional<std::string> parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  const std::string version = app.get_name() + " " + std::string(kVersion) + "\n";
  app.set_version_flag("--version", version);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion&) {
    return version;
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  return std::nullopt;
}

}  // namespace shoal

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "launcher/running_job.h"

// The matrix of what a rank can die of, when, and which rank of how many; and what must come of each.

namespace shoal::test {

struct Ending {
  std::string action;  ///< As fault_program and SHOAL_FAULT have it; segv only the former.
  int exit_code;       ///< Of the job.
  std::string blame;   ///< What is said of the rank.
};

inline const std::vector<Ending> kEndings{
    {"kill", 137, "was ended by SIGKILL"},
    {"segv", 139, "was ended by SIGSEGV"},
    {"abort", 134, "was ended by SIGABRT"},
    {"exit:3", 3, "exited with status 3"},
    {"exit:0", 1, "left while others waited for it"},
    {"throw", 1, "exited with status 1"},
};

inline const std::vector<std::string> kOperations{
    "barrier", "broadcast", "reduce",  "all_reduce", "reduce_scatter", "all_gather", "all_gather_v",
    "gather",  "gather_v",  "scatter", "scatter_v",  "scatter_cyclic", "all_to_all", "all_to_all_v"};

/// All moments but "in OP".
inline const std::vector<std::string> kMomentsBetween{"before", "between", "last", "end"};

/// Not who leaves with 0 when nobody waits for it any more.
inline bool is_a_fault(const std::string& moment, const Ending& ending) {
  return ending.action != "exit:0" || (moment != "last" && moment != "end");
}

/// In "in OP" the rank is struck by SHOAL_FAULT, in its second call of OP; in other moments by the program itself.
inline RunningJob start_job(const std::string& moment, int ranks, int victim, const std::string& action,
                            std::vector<std::string> options = {}) {
  const bool in_call = moment.starts_with("in ");
  std::vector<std::string> arguments = std::move(options);
  for (const std::string& word :
       {std::string("--heap"), std::string("1M"), std::string("-n"), std::to_string(ranks), rank_program(),
        in_call ? std::string("nowhere") : moment, std::to_string(victim), action})
    arguments.push_back(word);
  std::vector<std::string> environment;
  if (in_call)
    environment.push_back("SHOAL_FAULT=rank=" + std::to_string(victim) + ",op=" + moment.substr(3) +
                          ",call=2,action=" + action);
  return RunningJob(arguments, environment);
}

inline std::set<std::string> shared_memory_objects() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    if (const std::string name = entry.path().filename(); name.find("shoal") != std::string::npos) names.insert(name);
  return names;
}

inline void expect_ending(const std::string& moment, int ranks, int victim, const Ending& ending) {
  SCOPED_TRACE(moment + ", rank " + std::to_string(victim) + " of " + std::to_string(ranks) + ", " + ending.action);
  const bool in_call = moment.starts_with("in ");
  const bool by_us = in_call && ending.action == "segv";  // Stopped there, and then ended from outside.
  RunningJob job = start_job(moment, ranks, victim, by_us ? "stop" : ending.action);
  if (by_us) {
    const auto pids = pids_by_rank(job.await_output("pid", ranks), ranks);
    await_stopped(pids[static_cast<std::size_t>(victim)], true);
    job.signal(pids[static_cast<std::size_t>(victim)], SIGSEGV);
    job.signal(pids[static_cast<std::size_t>(victim)], SIGCONT);
  }
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, ending.exit_code) << end.err;
  EXPECT_THAT(end.err, testing::HasSubstr("shoalrun: rank " + std::to_string(victim) + " " + ending.blame));
  EXPECT_LT(end.took, std::chrono::seconds(10)) << "less than the grace: nobody had to be killed";
  if (in_call) {
    EXPECT_THAT(end.err,
                testing::HasSubstr("shoalrun: its last call, not finished: " + moment.substr(3) + " number 2 "));
  }
  EXPECT_THAT(job.left_behind(), testing::IsEmpty());
}

/// A rank writes over the job's memory; then the launcher is asked who waits for whom, looks for stalls, sees ranks
/// die, and reports. What becomes of the ranks is their affair.
inline void expect_survival(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::string report = testing::TempDir() + "scribbled." + std::to_string(::getpid());
  RunningJob job =
      start_job("between", 3, 1, "scribble:" + std::to_string(seed), {"--stall-timeout", "300ms", "--timeout", "2s", "--grace", "1s", "--report", report});
  const auto pids = pids_by_rank(job.await_output("scribbled"), 3);
  for (int look = 0; look < 3; ++look) {
    job.signal(SIGQUIT);
    job.says("who waits for whom", std::chrono::milliseconds(100));
  }
  if (seed % 2 == 0) job.signal(pids[1], SIGKILL);
  const JobEnd end = job.wait();
  EXPECT_NE(end.exit_code, 0);
  EXPECT_THAT(end.err, testing::Not(testing::HasSubstr("guard")));
  EXPECT_LT(end.exit_code, 128 + SIGSYS + 1) << "an exit, or a rank's signal";
  std::ostringstream text;
  text << std::ifstream(report).rdbuf();
  EXPECT_THAT(text.str(), testing::StartsWith("{"));
  EXPECT_THAT(text.str(), testing::EndsWith("}\n"));
  std::filesystem::remove(report);
  EXPECT_THAT(job.left_behind(), testing::IsEmpty());
}

/// The same of a rank that is stopped, which nobody notices but by the time that passes.
inline void expect_stall(const std::string& moment, int ranks, int victim, const std::string& limit) {
  SCOPED_TRACE(moment + ", rank " + std::to_string(victim) + " of " + std::to_string(ranks) + ", stop");
  RunningJob job = start_job(moment, ranks, victim, "stop", {"--stall-timeout", limit});
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 124) << end.err;
  EXPECT_THAT(end.err, testing::ContainsRegex("shoalrun: no call has gone on for [^:]*: rank " +
                                              std::to_string(victim) + " is stopped"));
  EXPECT_THAT(job.left_behind(), testing::IsEmpty());
}

/// The same where the others' own deadlines pass.
inline void expect_timeout(const std::string& moment, int ranks, int victim, const std::string& action,
                           const std::string& limit) {
  SCOPED_TRACE(moment + ", rank " + std::to_string(victim) + " of " + std::to_string(ranks) + ", " + action);
  const std::string who = "rank " + std::to_string(victim);
  RunningJob job = start_job(moment, ranks, victim, action, {"-x", "SHOAL_TIMEOUT=" + limit});
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 124) << end.err;
  EXPECT_THAT(end.err, testing::ContainsRegex("shoalrun:   rank [0-9] waited for rank [0-9]"));
  EXPECT_THAT(end.err, testing::HasSubstr(action == "stop"
                                              ? "shoalrun: " + who + " is stopped (rank "
                                              : "shoalrun: the others wait for " + who + ", which is at work (rank "));
  EXPECT_THAT(end.err, testing::ContainsRegex(" \\(rank [0-9]: timeout after "));
  EXPECT_THAT(end.err,
              testing::HasSubstr(moment == "between" ? "its last call, finished: " : "its last call, not finished: "));
  EXPECT_THAT(job.left_behind(), testing::IsEmpty());
}

}  // namespace shoal::test

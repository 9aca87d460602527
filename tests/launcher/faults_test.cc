// Whoever is killed, everything ends, soon, and nothing is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <set>
#include <sstream>
#include <thread>

#include "running_job.h"

namespace shoal::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::chrono::seconds kSoon{10};  // Of a loaded machine; it takes some milliseconds.

std::set<std::string> shared_memory_objects() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename();
    if (name.find("shoal") != std::string::npos) names.insert(name);
  }
  return names;
}

class Faults : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(shared_memory_objects(), before_); }

 private:
  std::set<std::string> before_ = shared_memory_objects();
};

// What the ranks do once they have said who they are, in the moment of the fault.
const std::vector<std::vector<std::string>> kActivities{
    {"pause"},                                  // Before the session is made.
    {"join", "rounds", "0"},                    // Small calls.
    {"join", "fill", "67108864"},               // Large ones.
    {"join", "rounds", "3", "leave", "pause"},  // After the session's end.
    {"join", "rounds", "3", "pause"},           // Busy elsewhere.
};

TEST_F(Faults, AKilledRankEndsTheJobAndIsNamedWhateverTheRanksWereDoing) {
  for (std::size_t activity = 0; activity < kActivities.size(); ++activity) {
    for (int victim = 0; victim < 4; ++victim) {
      std::vector<std::string> arguments{"-n", "4", "--heap", "1M", rank_program(), "pid"};
      arguments.insert(arguments.end(), kActivities[activity].begin(), kActivities[activity].end());
      RunningJob job(arguments);
      const auto pids = pids_by_rank(job.await_output("pid", 4), 4);
      job.signal(pids[static_cast<std::size_t>(victim)], SIGKILL);
      const JobEnd end = job.wait();
      EXPECT_EQ(end.exit_code, 137) << "activity " << activity << ", rank " << victim << ": " << end.err;
      EXPECT_THAT(end.err, HasSubstr("shoalrun: rank " + std::to_string(victim) + " was ended by SIGKILL\n"));
      EXPECT_LT(end.took, kSoon);
      EXPECT_THAT(job.left_behind(), IsEmpty());
    }
  }
}

TEST_F(Faults, AWaitingRankIsToldWhomItLost) {
  // After a round with both neighbours all three have joined: one that has not is ended unheard.
  RunningJob job({"-n", "3", rank_program(), "join", "rounds", "1", "pid", "rounds", "0"});
  const auto pids = pids_by_rank(job.await_output("pid", 3), 3);
  job.signal(pids[1], SIGUSR1);
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 128 + SIGUSR1);
  EXPECT_THAT(end.err, HasSubstr("rank 0: peer 1 lost"));
  EXPECT_THAT(end.err, HasSubstr("rank 2: peer 1 lost"));
  EXPECT_THAT(end.err, HasSubstr("it was ended by SIGUSR1"));
}

TEST_F(Faults, AKilledLauncherLeavesNothing) {
  for (const auto& activity : kActivities) {
    std::vector<std::string> arguments{"-n", "4", "--heap", "1M", rank_program(), "pid"};
    arguments.insert(arguments.end(), activity.begin(), activity.end());
    RunningJob job(arguments);
    job.await_output("pid", 4);
    job.signal(SIGKILL);
    const JobEnd end = job.wait();
    EXPECT_EQ(end.exit_code, 137);
    EXPECT_THAT(end.err, Not(HasSubstr("shoalrun: rank"))) << "no rank is to blame";
    EXPECT_THAT(job.left_behind(), IsEmpty());
  }
}

TEST_F(Faults, ASignalToTheLaunchersProcessGroupLeavesNothing) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    RunningJob job({"-n", "4", "--heap", "1M", rank_program(), "pid", "join", "rounds", "0"});
    job.await_output("pid", 4);
    job.signal_group(signal);
    EXPECT_EQ(job.wait().exit_code, 128 + signal);
    EXPECT_THAT(job.left_behind(), IsEmpty()) << signal;
  }
}

TEST_F(Faults, AJobRunsWellAfterOneOfWhichAllWasKilledAtOnce) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const std::string kind = repeat % 2 == 0 ? "SHOAL_SEGMENT=posix" : "SHOAL_SEGMENT=memfd";
    RunningJob killed({"-n", "2", "--heap", "1M", rank_program(), "pid", "join", "rounds", "0"}, {kind});
    const auto pids = pids_by_rank(killed.await_output("pid", 2), 2);
    const pid_t guard = killed.guard();
    for (const pid_t process : {killed.pid(), guard, pids[1]}) killed.signal(process, SIGKILL);
    killed.wait();
    EXPECT_THAT(killed.left_behind(), IsEmpty());
    const JobEnd end = RunningJob({"-n", "2", "--heap", "1M", rank_program(), "join", "rounds", "3"}, {kind}).wait();
    ASSERT_EQ(end.exit_code, 0) << "repeat " << repeat << ": " << end.err;
  }
}

TEST_F(Faults, ALauncherKilledAtAnyMomentOfItsStartLeavesNothing) {
  for (int moment = 0; moment < 40; ++moment) {
    RunningJob job({"-n", "4", rank_program(), "join", "rounds", "0"});
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(300 * moment);
    while (std::chrono::steady_clock::now() < until) {
    }
    job.signal(SIGKILL);
    job.wait();
    ASSERT_THAT(job.left_behind(), IsEmpty()) << "moment " << moment;
  }
}

TEST_F(Faults, ALauncherKilledWithDescendantsInTheirOwnSessionsLeavesNothing) {
  RunningJob job({"-n", "2", "sh", "-c", "trap '' TERM INT HUP; sleep 1000 & setsid sleep 1000 & echo ready; wait"});
  job.await_output("ready", 2);
  job.signal(SIGKILL);
  job.wait();
  EXPECT_THAT(job.left_behind(), IsEmpty());
}

TEST_F(Faults, WhoKillsShoalrunByItsCommandLineSparesTheGuard) {
  RunningJob job({"-n", "2", rank_program(), "pid", "pause"});
  job.await_output("pid", 2);
  std::ifstream file("/proc/" + std::to_string(job.guard()) + "/cmdline");
  std::string line;
  std::getline(file, line, '\0');
  EXPECT_EQ(line, "shoal-guard");
  job.signal(SIGKILL);
  job.wait();
  EXPECT_THAT(job.left_behind(), IsEmpty());
}

TEST_F(Faults, AKilledGuardEndsTheJobAndLeavesNothing) {
  RunningJob job({"-n", "2", "sh", "-c", "trap '' TERM INT HUP; sleep 1000 & setsid sleep 1000 & echo ready; wait"});
  job.await_output("ready", 2);
  job.signal(job.guard(), SIGKILL);
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_THAT(end.err, HasSubstr("shoalrun: the guard of the job was killed"));
  EXPECT_THAT(job.left_behind(), IsEmpty());
}

TEST_F(Faults, ASignalToTheLauncherEndsTheRanksAndGivesItsStatus) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    for (const auto& activity : {kActivities[0], kActivities[1]}) {
      std::vector<std::string> arguments{"-n", "4", rank_program(), "pid"};
      arguments.insert(arguments.end(), activity.begin(), activity.end());
      RunningJob job(arguments);
      job.await_output("pid", 4);
      job.signal(signal);
      const JobEnd end = job.wait();
      EXPECT_EQ(end.exit_code, 128 + signal) << end.err;
      EXPECT_LT(end.took, kSoon);
      EXPECT_THAT(job.left_behind(), IsEmpty());
    }
  }
}

TEST_F(Faults, ASignalIsPassedOnAsWhatItIsAndZeroFromEveryRankIsZero) {
  for (const auto& [name, number] : {std::pair("INT", SIGINT), std::pair("TERM", SIGTERM)}) {
    RunningJob job({"-n", "3", rank_program(), "catch", "INT", "catch", "TERM", "pid", "pause"});
    job.await_output("pid", 3);
    job.signal(number);
    const JobEnd end = job.wait();
    EXPECT_EQ(end.exit_code, 0);
    int caught = 0;
    for (const std::string& line : lines_of(end.out)) caught += line == std::string("caught ") + name ? 1 : 0;
    EXPECT_EQ(caught, 3) << end.out;
  }
}

// Below another job: a shell that ignores signals becomes shoalrun.
std::vector<std::string> ignoring(const std::string& signals, const std::string& arguments) {
  return {"-n", "1", "sh", "-c", "trap '' " + signals + "; echo 9 pid $$; exec " + SHOALRUN + " " + arguments};
}

TEST_F(Faults, RanksIgnoreWhatTheShellHadShoalrunIgnoreAndNothingElse) {
  for (const auto& [signals, mask] :
       {std::pair("INT QUIT", 0x6), std::pair("HUP TERM", 0x4001), std::pair("PIPE", 0)}) {
    const JobEnd end = run_job(ignoring(signals, "-n 1 grep SigIgn /proc/self/status"));
    std::ostringstream expected;
    expected << "SigIgn:\t" << std::hex << std::setw(16) << std::setfill('0') << mask << "\n";
    EXPECT_THAT(end.out, HasSubstr(expected.str())) << signals;
  }
}

TEST_F(Faults, ASignalThatShoalrunInheritedAsIgnoredEndsNothing) {
  RunningJob job(ignoring("INT TERM", "-n 2 " + rank_program() + " pid pause"));
  const auto pids = pids_by_rank(job.await_output("pid", 3), 10);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT}) job.signal(pids[9], signal);
  job.await_error("who waits for whom");  // Of the three it takes the last, so it has not taken the others.
  job.signal(pids[9], SIGUSR2);
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 128 + SIGUSR2);
  EXPECT_THAT(end.err, Not(HasSubstr("passed on")));
}

TEST_F(Faults, ASecondSignalKillsAtOnce) {
  RunningJob job({"-n", "2", rank_program(), "ignore", "INT", "pid", "pause"});
  job.await_output("pid", 2);
  job.signal(SIGINT);
  job.await_error("shoalrun: SIGINT: passed on to the ranks, which have 10 s to end");
  job.signal(SIGINT);
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 130);
  EXPECT_LT(end.took, std::chrono::seconds(9));  // The grace is 10 s.
  EXPECT_THAT(job.left_behind(), IsEmpty());
}

TEST_F(Faults, WhoCatchesTermHasUntilTheGraceAndNoLonger) {
  RunningJob saving({"-n", "2", rank_program(), "catch", "TERM", "pid", "pause"});
  const auto savers = pids_by_rank(saving.await_output("pid", 2), 2);
  saving.signal(savers[1], SIGKILL);
  const JobEnd saved = saving.wait();
  EXPECT_EQ(saved.exit_code, 137);
  EXPECT_THAT(saved.out, HasSubstr("caught TERM\n"));

  RunningJob job({"--grace", "300ms", "-n", "2", rank_program(), "only", "0", "ignore", "TERM", "all", "pid", "pause"});
  const auto pids = pids_by_rank(job.await_output("pid", 2), 2);
  job.signal(pids[1], SIGKILL);
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_THAT(end.err, HasSubstr("shoalrun: rank 0 did not end within 300 ms: killed\n"));
  EXPECT_GE(end.took.count(), 300);
  EXPECT_THAT(job.left_behind(), IsEmpty());
}

TEST_F(Faults, AStoppedRankIsEndedToo) {
  RunningJob job({"-n", "3", rank_program(), "pid", "join", "rounds", "0"});
  const auto pids = pids_by_rank(job.await_output("pid", 3), 3);
  job.signal(pids[0], SIGSTOP);
  job.signal(pids[2], SIGKILL);
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_THAT(end.err, HasSubstr("shoalrun: rank 2 was ended by SIGKILL\n"));
  EXPECT_LT(end.took, std::chrono::seconds(9));
  EXPECT_THAT(job.left_behind(), IsEmpty());
}

TEST_F(Faults, AStoppedLauncherStopsItsRanksAndContinuesThem) {
  RunningJob job({"-n", "2", rank_program(), "pid", "join", "rounds", "0"});
  const auto pids = pids_by_rank(job.await_output("pid", 2), 2);
  job.signal(SIGTSTP);
  for (const pid_t process : {pids[0], pids[1], job.pid()}) await_stopped(process, true);
  job.signal(SIGCONT);
  for (const pid_t process : {pids[0], pids[1], job.pid()}) await_stopped(process, false);
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait().exit_code, 143);
}

TEST_F(Faults, AProgramThatDiesBelowAWrapperShellThatGivesZeroIsAFailure) {
  for (const char* end_of_rank_1 : {"die ABRT", "die SEGV", "_exit 3", "_exit 0"}) {
    RunningJob job(
        {"-n", "3", "sh", "-c", rank_program() + " join rounds 1 only 1 " + end_of_rank_1 + " all rounds 0; true"});
    const JobEnd end = job.wait();
    EXPECT_EQ(end.exit_code, 1) << end_of_rank_1;
    EXPECT_THAT(end.err, HasSubstr("shoalrun: rank 1 left while others waited for it")) << end_of_rank_1;
    EXPECT_THAT(job.left_behind(), IsEmpty());
  }
}

TEST_F(Faults, AProgramBelowAWrapperShellIsEndedWithItsGroup) {
  RunningJob job({"-n", "2", "sh", "-c",
                  rank_program() + " pid join only 1 die ABRT all rounds 0; test $RANK = 1 && exit 134; true"});
  const JobEnd end = job.wait();
  EXPECT_NE(end.exit_code, 0);
  EXPECT_THAT(job.left_behind(), IsEmpty());

  RunningJob killed({"-n", "2", "sh", "-c", "echo $RANK pid $$; sleep 1000; true"});
  const auto pids = pids_by_rank(killed.await_output("pid", 2), 2);
  killed.signal(pids[1], SIGKILL);
  EXPECT_EQ(killed.wait().exit_code, 137);
  EXPECT_THAT(killed.left_behind(), IsEmpty());
}

TEST_F(Faults, WhatRanksLeaveRunningAtAGoodEndIsEnded) {
  RunningJob job(
      {"-n", "2", "sh", "-c", "sleep 1000 & setsid sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' & echo done"});
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.out, "done\ndone\n");
  EXPECT_LT(end.took, kSoon);
  EXPECT_THAT(job.left_behind(), IsEmpty());
}

// Each child is in a session of its own and forks the next, sooner than one look at the processes could see them all.
TEST_F(Faults, WhatLeftoversForkWhileTheyAreEndedIsEndedBeforeTheGrace) {
  const std::string fork_on = "test $1 = 0 || setsid \"$0\" $(($1 - 1)) & exec sleep 1000";
  const std::filesystem::path script = testing::TempDir() + "fork_on." + std::to_string(::getpid());
  std::ofstream(script) << "#!/bin/sh\n" << fork_on << "\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  RunningJob job({"--grace", "60s", "-n", "2", "sh", "-c",
                  "setsid " + script.string() + " 300 & test $RANK = 1 && exit 3; exec sleep 1000"});
  const JobEnd end = job.wait();
  std::filesystem::remove(script);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_THAT(end.err, Not(HasSubstr("killed")));
  EXPECT_LT(end.took, std::chrono::seconds(50)) << "the grace is 60 s";
  EXPECT_THAT(job.left_behind(), IsEmpty());
}

TEST_F(Faults, TheRankThatFailedFirstIsNamedBeforeItsVictims) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const JobEnd end =
        run_job({"-n", "3", rank_program(), "join", "rounds", "5", "only", "1", "die", "SEGV", "all", "rounds", "0"});
    ASSERT_EQ(end.exit_code, 139) << end.err;
    const auto first = end.err.find("shoalrun: rank");
    ASSERT_NE(first, std::string::npos);
    ASSERT_EQ(end.err.find("shoalrun: rank 1 was ended by SIGSEGV"), first) << end.err;
  }
}

TEST_F(Faults, ARankThatLeftAndEndsLastIsNamedHoweverItsVictimsEnd) {
  for (const char* signal : {"SEGV", "TERM", "KILL", "ABRT"}) {
    RunningJob job({"-n", "3", rank_program(), "join", "rounds", "3", "doom", signal, "only", "1", "leave", "linger",
                    "100", "_exit", "3", "all", "rounds", "0"});
    const JobEnd end = job.wait();
    EXPECT_NE(end.exit_code, 0);
    // Its status, or that it left, if that took it longer than it is waited for.
    EXPECT_THAT(end.err, ContainsRegex("shoalrun: rank 1 (exited with status 3|left while others waited for it)"))
        << signal;
    EXPECT_THAT(end.err, Not(ContainsRegex("shoalrun: rank [02]"))) << signal;
  }
}

TEST_F(Faults, ManyMixedEndingsLeaveNothing) {
  const std::vector<std::vector<std::string>> endings{
      {"join", "rounds", "2"}, {"join", "only", "1", "die", "KILL", "all", "rounds", "0"},
      {"exit", "4"},           {"join", "only", "0", "throw", "x", "all", "rounds", "0"},
      {"uncaught", "y"},       {"join", "leave", "_exit", "0"}};
  for (int repeat = 0; repeat < 60; ++repeat) {
    std::vector<std::string> arguments{"-n", "3", rank_program()};
    const auto& ending = endings[static_cast<std::size_t>(repeat) % endings.size()];
    arguments.insert(arguments.end(), ending.begin(), ending.end());
    RunningJob job(arguments);
    job.wait();
    ASSERT_THAT(job.left_behind(), IsEmpty()) << "repeat " << repeat;
  }
}

}  // namespace
}  // namespace shoal::test

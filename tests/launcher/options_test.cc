// What each option of shoalrun does to a real job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "running_job.h"
#include "shoal/runtime/cores.h"

namespace shoal::test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::UnorderedElementsAre;

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Options : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  json report() const { return json::parse(content_of(directory_ / "report.json")); }

  const std::filesystem::path directory_ =
      std::filesystem::path(testing::TempDir()) / ("shoalrun-options-" + std::to_string(::getpid()));
  const std::string report_file_ = (directory_ / "report.json").string();
};

TEST_F(Options, TimestampBeginsEachLineWithTheTimeAfterItsTag) {
  const auto timed = lines_of(run_job({"--timestamp", "-n", "2", "printf", "a\\nb\\n"}).out);
  EXPECT_EQ(timed.size(), 4U);
  EXPECT_THAT(timed, Each(MatchesRegex("[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9][0-9][0-9] [ab]")));
  const auto both = lines_of(run_job({"--timestamp", "--tag", "-n", "2", "printf", "a\\nb\\n"}).out);
  EXPECT_EQ(both.size(), 4U);
  EXPECT_THAT(both, Each(MatchesRegex("\\[[01]\\] [0-9:]+\\.[0-9]+ [ab]")));
}

TEST_F(Options, LogDirHoldsEachStreamOfEachRankAsItWasWritten) {
  const std::filesystem::path logs = directory_ / "new" / "logs";
  const JobEnd end = run_job({"--log-dir", logs.string(), "--tag", "-n", "3", "sh", "-c",
                              "printf \"out $RANK\\nno newline\"; printf \"err $RANK\" >&2"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(end.out, "");
  for (const std::string rank : {"0", "1", "2"}) {
    EXPECT_EQ(content_of(logs / ("rank." + rank + ".out")), "out " + rank + "\nno newline");
    EXPECT_EQ(content_of(logs / ("rank." + rank + ".err")), "err " + rank);
  }
}

TEST_F(Options, LogsHoldBytesOfAnyKindAndWhatWasWrittenBeforeACrash) {
  const std::string script = "head -c 3000000 /dev/urandom | tee " + directory_.string() + "/truth.$RANK; exec " +
                             rank_program() + " die SEGV";
  const JobEnd end = run_job({"--log-dir", directory_.string(), "-n", "1", "sh", "-c", script});
  EXPECT_EQ(end.exit_code, 139);
  EXPECT_THAT(end.err, HasSubstr("shoalrun: rank 0 was ended by SIGSEGV\n"));
  EXPECT_EQ(content_of(directory_ / "truth.0").size(), 3000000U);
  EXPECT_TRUE(content_of(directory_ / "truth.0") == content_of(directory_ / "rank.0.out"));
}

TEST_F(Options, TeeShowsWhatIsLogged) {
  const JobEnd end = run_job({"--log-dir", directory_.string(), "--tee", "--tag", "-n", "2", "sh", "-c", "echo $RANK"});
  EXPECT_THAT(lines_of(end.out), UnorderedElementsAre("[0] 0", "[1] 1"));
  EXPECT_EQ(content_of(directory_ / "rank.1.out"), "1\n");
}

TEST_F(Options, LogsThatCannotBeWrittenAreNamed) {
  const JobEnd none = run_job({"--log-dir", "/dev/null/logs", "-n", "1", "true"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("shoalrun: cannot make the directory /dev/null/logs"));

  std::filesystem::create_symlink("/dev/full", directory_ / "rank.0.out");
  RunningJob full({"--log-dir", directory_.string(), "-n", "2", "sh", "-c", "echo text; exec sleep 1000"});
  const JobEnd end = full.wait();
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.err, HasSubstr("rank.0.out: No space left on device"));
  EXPECT_THAT(full.left_behind(), IsEmpty());
}

TEST_F(Options, OnlyRankHidesTheOthersButHoldsUpNobody) {
  const JobEnd end = run_job({"--only-rank", "1,3", "-n", "4", "sh", "-c", "seq 1 100000; echo $RANK >&2"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(lines_of(end.out).size(), 200000U);
  EXPECT_THAT(lines_of(end.err), testing::IsSupersetOf({"1", "3"}));
  EXPECT_THAT(lines_of(end.err), Not(testing::Contains("0")));
}

TEST_F(Options, WrapPutsACommandBeforeTheProgram) {
  EXPECT_EQ(run_job({"--wrap", "env 'A=x y'", "-n", "1", "sh", "-c", "echo \"$A\""}).out, "x y\n");
  EXPECT_EQ(run_job({"--wrap", "no-such-wrapper", "-n", "1", "true"}).exit_code, 127);
}

TEST_F(Options, SeveralProgramsShareOneWorld) {
  const JobEnd end = run_job({"-n", "1", "-x", "A=first", "sh", "-c", "echo $A $RANK of $WORLD_SIZE", ":", "-n", "2",
                              "-x", "A=second", "--wdir", "/", "sh", "-c", "echo $A $RANK of $WORLD_SIZE in $PWD"});
  EXPECT_THAT(lines_of(end.out), UnorderedElementsAre("first 0 of 3", "second 1 of 3 in /", "second 2 of 3 in /"));
  EXPECT_EQ(run_job({"-n", "1", rank_program(), "join", "rounds", "9", ":", "-n", "2", rank_program(), "join", "print",
                     "x", "rounds", "9"})
                .out,
            "xx");
  const JobEnd missing = run_job({"-n", "1", "sleep", "1000", ":", "-n", "1", "no-such-program"});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_THAT(missing.err, HasSubstr("cannot run no-such-program"));
}

TEST_F(Options, DryRunShowsTheJobAndStartsNothing) {
  const std::string file = (directory_ / "touched").string();
  const JobEnd end = run_job({"--dry-run", "--heap", "64M", "-n", "2", "-x", "A=b c", "touch", file, ":", "-n", "1",
                              "--wdir", "/", "echo", "it's"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(file));
  const std::vector<std::string> parts{
      "ranks: 3\n", "shared memory: ", "64.0 MiB",          "rank 2: ", "runs: touch " + file, "runs: echo 'it'\\''s'",
      "'A=b c'",    "in: /",           "SHOAL_WORLD_SIZE=3"};
  for (const std::string& part : parts) EXPECT_THAT(end.out, HasSubstr(part));
}

TEST_F(Options, ReportBindingsNamesThePlaceOfEachRankWhichItKeeps) {
  const JobEnd end = run_job({"--bind", "core", "--report-bindings", "-n", "3", "sh", "-c",
                              "echo $RANK $(grep Cpus_allowed_list /proc/self/status | cut -f2)"});
  const auto allowed = allowed_cores().cores;
  for (const std::string& line : lines_of(end.out)) {
    const auto processor = line.substr(line.find(' ') + 1);
    EXPECT_THAT(end.err, ContainsRegex("shoalrun: rank " + line.substr(0, 1) + ": processors? " + processor));
    if (processor.find_first_not_of("0123456789") != std::string::npos) continue;
    EXPECT_THAT(allowed, testing::Contains(std::stoi(processor)));
  }
  const JobEnd none = run_job({"--bind", "none", "--report-bindings", "-n", "1", "true"});
  EXPECT_THAT(none.err, HasSubstr("rank 0: not bound"));
}

TEST_F(Options, MoreRanksThanCoresGetOneNoteAndNoMore) {
  const JobEnd end = run_job({"-n", "70", "true"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.err, MatchesRegex("shoalrun: note: 70 ranks take turns on [0-9]+ cores?\n"));
}

TEST_F(Options, ReportOfAGoodJobCountsWhatItsRanksDid) {
  const JobEnd end = run_job({"--report", report_file_, "-n", "2", rank_program(), "join", "rounds", "5"});
  EXPECT_EQ(end.exit_code, 0);
  const json job = report();
  EXPECT_EQ(job["schema"], "shoal.job/1");
  EXPECT_EQ(job["ranks"], 2);
  EXPECT_EQ(job["exit_code"], 0);
  EXPECT_GT(job["wall_s"], 0.0);
  EXPECT_TRUE(job["first_failure"].is_null());
  ASSERT_EQ(job["per_rank"].size(), 2U);
  for (int rank = 0; rank < 2; ++rank) {
    const json& row = job["per_rank"][static_cast<std::size_t>(rank)];
    EXPECT_EQ(row["rank"], rank);
    EXPECT_GT(row["pid"], 1);
    EXPECT_EQ(row["exit_code"], 0);
    EXPECT_TRUE(row["signal"].is_null());
    EXPECT_GT(row["max_rss_bytes"], 100'000);
    EXPECT_EQ(row["bytes_sent"], 40);  // Five times eight bytes.
    EXPECT_EQ(row["bytes_received"], 40);
    EXPECT_EQ(row["operations"], 5);
  }
}

TEST_F(Options, ReportShowsThatWaitingTakesHardlyAnyTimeOfTheProcessor) {
  run_job({"--report", report_file_, "-n", "3", rank_program(), "join", "rounds", "3", "only", "0", "linger", "4000",
           "all", "rounds", "1"});
  const json job = report();
  EXPECT_EQ(job["exit_code"], 0);
  for (const std::size_t waiting : {1U, 2U}) {
    const json& row = job["per_rank"][waiting];
    EXPECT_LT(double(row["user_s"]) + double(row["system_s"]), 0.4) << "a tenth of four seconds";
  }
}

TEST_F(Options, ReportNamesTheFirstFailureWithItsLastCall) {
  run_job({"--report", report_file_, "-n", "3", rank_program(), "join", "rounds", "4", "only", "1", "die", "SEGV",
           "all", "rounds", "0"});
  const json job = report();
  EXPECT_EQ(job["exit_code"], 139);
  const json& failure = job["first_failure"];
  EXPECT_EQ(failure["rank"], 1);
  EXPECT_EQ(failure["kind"], "signal");
  EXPECT_EQ(failure["signal"], "SIGSEGV");
  EXPECT_EQ(failure["code"], SIGSEGV);
  EXPECT_EQ(failure["last_op"], "exchange");
  EXPECT_EQ(failure["call"], 4);
  EXPECT_EQ(failure["message"], "rank 1 was ended by SIGSEGV");
  EXPECT_EQ(job["per_rank"][1]["signal"], "SIGSEGV");
  const json& victims = job["recorder"][1]["calls"];
  ASSERT_EQ(victims.size(), 4U);
  EXPECT_EQ(victims[3]["number"], 4);
  EXPECT_EQ(victims[3]["op"], "exchange");
  EXPECT_EQ(victims[3]["count"], 8);
  EXPECT_EQ(victims[3]["state"], "done");
  EXPECT_GE(victims[3]["end_s"], victims[3]["start_s"]);
  EXPECT_GE(job["recorder"][0]["calls"].size(), 4U);
  EXPECT_EQ(job["per_rank"][1]["exit_code"], 139);
}

TEST_F(Options, ReportBlamesNobodyForASignalToShoalrun) {
  for (const int signal : {SIGINT, SIGTERM}) {
    RunningJob job({"--report", report_file_, "-n", "2", rank_program(), "join", "rounds", "3", "pid", "rounds", "0"});
    job.await_output("pid", 2);
    job.signal(signal);
    EXPECT_EQ(job.wait().exit_code, 128 + signal);
    EXPECT_EQ(report()["exit_code"], 128 + signal);
    EXPECT_TRUE(report()["first_failure"].is_null()) << report();
  }
}

TEST_F(Options, ReportOfAJobWhoseGuardWasKilledSaysSo) {
  RunningJob job({"--report", report_file_, "-n", "2", rank_program(), "pid", "pause"});
  job.await_output("pid", 2);
  job.signal(job.guard(), SIGKILL);
  EXPECT_EQ(job.wait().exit_code, 137);
  EXPECT_EQ(report()["exit_code"], 137);
  EXPECT_EQ(report()["first_failure"]["rank"], -1);
  EXPECT_EQ(report()["first_failure"]["signal"], "SIGKILL");
  EXPECT_THAT(std::string(report()["first_failure"]["message"]), HasSubstr("guard of the job was killed"));
  EXPECT_EQ(report()["per_rank"][1]["signal"], "SIGKILL");
}

TEST_F(Options, ReportOfAJobThatCouldNotBeginSaysWhyAndClaimsNothingOfItsRanks) {
  const std::string tail = " --report " + report_file_ + " -n 20 true; echo $?";
  for (const auto& [limit, why, rows] :
       {std::tuple("ulimit -n 40; ", "open files", 20U), std::tuple("ulimit -v 1000000; ", "cannot be mapped", 0U)}) {
    const JobEnd end = run_job({"-n", "1", "sh", "-c", limit + std::string(SHOALRUN) + tail});
    EXPECT_EQ(end.out, "1\n");
    const json job = report();
    EXPECT_EQ(job["exit_code"], 1);
    EXPECT_EQ(job["ranks"], 20);
    EXPECT_EQ(job["first_failure"]["rank"], -1);
    EXPECT_THAT(std::string(job["first_failure"]["message"]), HasSubstr(why));
    ASSERT_EQ(job["per_rank"].size(), rows);
    for (const json& row : job["per_rank"])
      for (const char* field : {"pid", "exit_code", "signal"}) EXPECT_TRUE(row[field].is_null()) << row;
  }
}

TEST_F(Options, ReportTakesAllOfStandardOutputIfItGoesThere) {
  const JobEnd end = run_job({"--report", "-", "-n", "2", "sh", "-c", "echo shown; exit 4"});
  EXPECT_EQ(end.exit_code, 4);
  EXPECT_EQ(json::parse(end.out)["first_failure"]["code"], 4);
  EXPECT_THAT(end.err, HasSubstr("shown\n"));
}

TEST_F(Options, ReportGoesToANamedPipeIfSomebodyReadsItAndIsAnErrorElse) {
  ASSERT_EQ(::mkfifo(report_file_.c_str(), 0600), 0);
  const JobEnd unread = run_job({"--report", report_file_, "-n", "1", "echo", "ran"});
  EXPECT_EQ(unread.exit_code, 1);
  EXPECT_EQ(unread.out, "ran\n");
  EXPECT_THAT(unread.err, HasSubstr("cannot write the report " + report_file_));

  const std::string script = "cat " + report_file_ + " & " + SHOALRUN + " --report " + report_file_ +
                             " -n 1 sleep 0.2; echo status $? >&2; wait";
  const JobEnd read = run_job({"-n", "1", "sh", "-c", script});
  EXPECT_THAT(read.err, HasSubstr("status 0\n"));
  EXPECT_EQ(json::parse(read.out)["schema"], "shoal.job/1");
}

TEST_F(Options, ReportThatCannotBeWrittenIsRefusedBeforeTheJob) {
  const JobEnd end = run_job({"--report", "/nowhere/report", "-n", "1", "echo", "ran"});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_EQ(end.out, "");
  EXPECT_THAT(end.err, HasSubstr("--report /nowhere/report"));
}

TEST_F(Options, MaxRestartsStartsTheWholeJobAgain) {
  const JobEnd good = run_job({"--max-restarts", "3", "--report", report_file_, "--log-dir", directory_.string(), "-n",
                               "2", "sh", "-c", "echo try $SHOAL_RESTART_COUNT; test $SHOAL_RESTART_COUNT = 2"});
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(content_of(directory_ / "rank.0.out"), testing::EndsWith("try 2\n"));
  EXPECT_EQ(report()["restarts"], 2);

  const JobEnd bad = run_job({"--max-restarts", "2", "-n", "1", "sh", "-c", "echo $SHOAL_RESTART_COUNT; exit 5"});
  EXPECT_EQ(bad.out, "0\n1\n2\n");
  EXPECT_EQ(bad.exit_code, 5);
}

TEST_F(Options, MaxRestartsStartsNothingAgainThatAUserEndedOrThatCannotStart) {
  RunningJob ended({"--max-restarts", "5", "-n", "1", "sh", "-c", "echo up; exec sleep 1000"});
  ended.await_output("up\n");
  ended.signal(SIGTERM);
  const JobEnd end = ended.wait();
  EXPECT_EQ(end.exit_code, 143);
  EXPECT_EQ(end.out, "up\n");

  // In whatever moment of a rank's end the signal comes; the parent of the rank's parent is shoalrun.
  const std::string kill_shoalrun = "set -- $(cat /proc/$PPID/stat); kill -TERM $4; ";
  for (int repeat = 0; repeat < 40; ++repeat) {
    const JobEnd last =
        run_job({"--max-restarts", "3", "-n", "1", "sh", "-c",
                 "echo $SHOAL_RESTART_COUNT; " +
                     (repeat % 2 == 0 ? kill_shoalrun + "exit 1" : "(" + kill_shoalrun + ") & wait; exit 1")});
    ASSERT_EQ(last.out, "0\n") << "repeat " << repeat;
    ASSERT_NE(last.exit_code, 0);
  }

  const JobEnd missing = run_job({"--max-restarts", "5", "-n", "1", "no-such-program"});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_EQ(lines_of(missing.err).size(), 1U) << missing.err;
}

TEST_F(Options, MaxRestartsEndAtASignalWheneverItComes) {
  for (int repeat = 0; repeat < 30; ++repeat) {
    RunningJob job({"--max-restarts", "1000000", "-n", "2", "false"});
    job.await_error("starts the job again (" + std::to_string(1 + repeat % 7) + " of");
    job.signal(SIGTERM);
    EXPECT_NE(job.wait().exit_code, 0) << "repeat " << repeat;
  }
}

TEST_F(Options, StallTimeoutEndsAJobOfWhichARankIsStopped) {
  RunningJob job({"--stall-timeout", "1s", "--report", report_file_, "-n", "3", rank_program(), "join", "rounds", "3",
                  "pid", "rounds", "0"});
  const auto pids = pids_by_rank(job.await_output("pid", 3), 3);
  job.signal(pids[1], SIGSTOP);
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 124);
  EXPECT_THAT(end.err, HasSubstr("shoalrun: no call has gone on for 1 s: rank 1 is stopped\n"));
  EXPECT_THAT(end.err, HasSubstr("shoalrun: who waits for whom:\n"));
  EXPECT_THAT(end.err, ContainsRegex("  rank [02] waits for rank 1 "));
  EXPECT_THAT(end.err, HasSubstr("rank 1 is"));
  EXPECT_THAT(job.left_behind(), IsEmpty());
  EXPECT_EQ(report()["first_failure"]["kind"], "stall");
  EXPECT_EQ(report()["first_failure"]["rank"], 1);
}

TEST_F(Options, StallTimeoutBlamesARankThatIsBusyElsewhereAndLeavesJobsAloneInWhichNobodyWaits) {
  RunningJob job({"--stall-timeout", "1s", "-n", "2", rank_program(), "join", "rounds", "3", "only", "1", "pause",
                  "all", "rounds", "0"});
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 124);
  EXPECT_THAT(end.err, HasSubstr("rank 0 waits for rank 1"));
  EXPECT_THAT(end.err, HasSubstr("the others wait for rank 1, which is in no call\n"));

  EXPECT_EQ(run_job({"--stall-timeout", "50ms", "-n", "2", "sleep", "0.5"}).exit_code, 0);
  EXPECT_EQ(run_job({"--stall-timeout", "0", "--timeout", "400ms", "-n", "2", rank_program(), "join", "only", "1",
                     "pause", "all", "rounds", "0"})
                .exit_code,
            124);
}

TEST_F(Options, QuitPrintsWhoWaitsForWhomAndTheJobGoesOn) {
  RunningJob job({"-n", "2", rank_program(), "join", "rounds", "3", "pid", "only", "1", "pause", "all", "rounds", "0"});
  job.await_output("pid", 2);
  job.signal(SIGQUIT);
  job.await_error("rank 1 is in no call");
  job.signal(SIGQUIT);
  job.await_error("rank 0 ");
  job.signal(SIGTERM);
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 143);
  EXPECT_THAT(end.err, HasSubstr(", after exchange number 3 (auto, byte, count 8)"));
}

TEST_F(Options, UserSignalsReachEveryRankAsOftenAsTheyAreSent) {
  RunningJob job({"-n", "3", "sh", "-c",
                  "trap 'echo one' USR1; trap 'echo two; exit 0' USR2; echo ready; while :; do sleep 0.05; done"});
  job.await_output("ready", 3);
  job.signal(SIGUSR1);
  job.await_output("one", 3);
  job.signal(SIGUSR1);
  job.await_output("one", 6);
  job.signal(SIGUSR2);
  const JobEnd end = job.wait();
  EXPECT_EQ(std::ranges::count(lines_of(end.out), "two"), 3);
}

}  // namespace
}  // namespace shoal::test

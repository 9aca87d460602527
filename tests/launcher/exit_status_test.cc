// What shoalrun exits with, and whom it names (docs: exit status).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "running_job.h"

namespace shoal::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> ranks(int number, const std::vector<std::string>& words) {
  std::vector<std::string> arguments{"-n", std::to_string(number), rank_program()};
  arguments.insert(arguments.end(), words.begin(), words.end());
  return arguments;
}

/// Many repeats, fewer where the machine is slow: `while (repeats.next())`.
class Repeats {
 public:
  explicit Repeats(int most) : most_(most) {}
  bool next() { return ++number_ <= most_ && std::chrono::steady_clock::now() < end_; }
  int number() const { return number_; }

 private:
  int most_;
  int number_ = 0;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::seconds(30);
};

int lines_with(const std::string& text, const std::string& part) {
  int found = 0;
  for (const std::string& line : lines_of(text)) found += line.find(part) != std::string::npos ? 1 : 0;
  return found;
}

TEST(ExitStatus, IsZeroIfEveryRankGaveZero) {
  for (const int number : {1, 2, 3, 5, 9}) {
    const JobEnd end = run_job(ranks(number, {"join", "rounds", "3", "leave"}));
    EXPECT_EQ(end.exit_code, 0) << end.err;
  }
}

TEST(ExitStatus, OfTheSuperusersJobsIsNoOther) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root";
  const JobEnd end = run_job({"-n", "2", "id", "-u"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(end.out, "0\n0\n");
}

TEST(ExitStatus, IsThatOfTheFailedRankWhateverItsValue) {
  for (const int code : {1, 2, 3, 42, 99, 124, 126, 127, 128, 137, 200, 255}) {
    const JobEnd end = run_job(ranks(3, {"only", "1", "_exit", std::to_string(code), "all", "pause"}));
    EXPECT_EQ(end.exit_code, code) << end.err;
    EXPECT_THAT(end.err, HasSubstr("shoalrun: rank 1 exited with status " + std::to_string(code) + "\n"));
  }
}

TEST(ExitStatus, IsTheSameAtEveryOneOfManyRuns) {
  for (Repeats repeats(200); repeats.next();) {
    const JobEnd end = run_job({"-n", "2", "sh", "-c", "test $RANK = 1 && exit 3; exec sleep 1000"});
    ASSERT_EQ(end.exit_code, 3) << "repeat " << repeats.number() << ": " << end.err;
  }
}

TEST(ExitStatus, OfARankThatExitsWhileOthersWaitForItIsItsOwnAtEveryOneOfManyRuns) {
  for (Repeats repeats(100); repeats.next();) {
    const JobEnd end = run_job(ranks(4, {"join", "only", "2", "exit", "3", "all", "rounds", "0"}));
    ASSERT_EQ(end.exit_code, 3) << "repeat " << repeats.number() << ": " << end.err;
    ASSERT_THAT(end.err, HasSubstr("shoalrun: rank 2 exited with status 3\n"));
  }
}

TEST(ExitStatus, IsThatOfARankWhoseExceptionEndedItsSessionFirst) {
  // The session ends before the process does, so its peers may well be gone before it.
  for (Repeats repeats(50); repeats.next();) {
    const JobEnd end = run_job(ranks(4, {"join", "only", "2", "leave", "return", "7", "all", "rounds", "0"}));
    ASSERT_EQ(end.exit_code, 7) << "repeat " << repeats.number() << ": " << end.err;
    ASSERT_THAT(end.err, HasSubstr("shoalrun: rank 2 exited with status 7"));
  }
}

TEST(ExitStatus, Is128PlusTheSignalThatEndedARank) {
  for (const auto& [name, number] :
       {std::pair("SEGV", SIGSEGV), std::pair("KILL", SIGKILL), std::pair("INT", SIGINT), std::pair("ABRT", SIGABRT),
        std::pair("TERM", SIGTERM), std::pair("BUS", SIGBUS), std::pair("HUP", SIGHUP), std::pair("PIPE", SIGPIPE)}) {
    const JobEnd end = run_job(ranks(4, {"join", "rounds", "1", "only", "3", "die", name, "all", "rounds", "0"}));
    EXPECT_EQ(end.exit_code, 128 + number) << name << ": " << end.err;
    EXPECT_THAT(end.err, HasSubstr(std::string("shoalrun: rank 3 was ended by SIG") + name + "\n"));
    EXPECT_EQ(lines_with(end.err, "shoalrun: rank"), 1) << end.err;
  }
}

TEST(ExitStatus, IsOneForARankThatLeftWithZeroWhileOthersWaited) {
  for (Repeats repeats(20); repeats.next();) {
    const JobEnd end = run_job(ranks(4, {"join", "only", "0", "return", "0", "all", "rounds", "0"}));
    ASSERT_EQ(end.exit_code, 1) << end.err;
    ASSERT_THAT(end.err, HasSubstr("shoalrun: rank 0 left while others waited for it"));
  }
}

TEST(ExitStatus, IsOneForARankThatNeverJoinedTheOthers) {
  const JobEnd end = run_job(ranks(3, {"only", "1", "return", "0", "all", "join", "rounds", "0"}));
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.err, HasSubstr("shoalrun: rank 1 left while others waited for it"));
}

TEST(ExitStatus, OfAnUncaughtExceptionIsThatOfItsRankAndNotOfItsVictims) {
  const JobEnd end = run_job(ranks(4, {"join", "only", "3", "uncaught", "boo", "all", "rounds", "0"}));
  EXPECT_EQ(end.exit_code, 128 + SIGABRT);
  EXPECT_THAT(end.err, HasSubstr("shoalrun: rank 3 was ended by SIGABRT\n"));
}

TEST(ExitStatus, OfAJobWhoseTimeIsUpIs124) {
  const JobEnd end = run_job({"--timeout", "200ms", "-n", "3", rank_program(), "join", "rounds", "0"});
  EXPECT_EQ(end.exit_code, 124);
  EXPECT_EQ(lines_with(end.err, "shoalrun: the job did not end within its 200 ms"), 1) << end.err;
  EXPECT_EQ(run_job({"--timeout", "200ms", "-n", "1", "sleep", "1000"}).exit_code, 124);
  EXPECT_EQ(run_job({"--timeout", "10m", "-n", "2", "true"}).exit_code, 0);
}

TEST(ExitStatus, OfAJobWhoseTimeIsUpIs124AlsoWhereNobodyReadsItsOutput) {
  RunningJob job({"--timeout", "300ms", "--grace", "300ms", "-n", "2", "yes"});
  siginfo_t end{};
  ::waitid(P_PID, static_cast<id_t>(job.pid()), &end, WEXITED | WNOWAIT);  // Nothing of it is read until it has ended.
  EXPECT_EQ(job.wait().exit_code, 124);
  EXPECT_THAT(job.left_behind(), testing::IsEmpty());
}

TEST(ExitStatus, OfAMismatchIsThatOfItsRankWhoseLastCallIsSaidToHaveFailed) {
  const JobEnd end = run_job({"-n", "2", rank_program(), "join", "only", "1", "fill", "16", "all", "rounds", "0"});
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.err, testing::ContainsRegex("shoalrun: rank [01] exited with status 1: rank [01]: mismatch"));
  EXPECT_THAT(end.err, HasSubstr("shoalrun: its last call, failed: exchange number 1 "));
}

TEST(ExitStatus, OfAMissingProgramIs127WithOneMessage) {
  for (const std::string name : {"/nowhere/at-all", "no-such-program-anywhere", "./neither-here", "/etc/passwd/x"}) {
    const JobEnd end = run_job({"-n", "4", name});
    EXPECT_EQ(end.exit_code, 127) << name;
    EXPECT_EQ(lines_with(end.err, "shoalrun: cannot run " + name), 1) << end.err;
    EXPECT_THAT(end.err, Not(HasSubstr("shoalrun: rank")));
  }
}

class ExitStatusOfFiles : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name, const std::string& content, mode_t mode) const {
    std::string path = directory_ + "/" + name;
    std::ofstream(path) << content;
    ::chmod(path.c_str(), mode);
    return path;
  }

  const std::string directory_ = testing::TempDir() + "shoalrun-" + std::to_string(::getpid());
};

TEST_F(ExitStatusOfFiles, OfAProgramThatCannotBeExecutedIs126WithOneMessage) {
  const std::string plain = file("plain", "echo never\n", 0644);
  const std::string lost = file("lost", "#!/nowhere/interpreter\n", 0755);
  for (const std::string& path : {plain, lost, directory_}) {
    const JobEnd end = run_job({"-n", "4", path});
    EXPECT_EQ(end.exit_code, 126) << path << ": " << end.err;
    EXPECT_EQ(lines_with(end.err, "shoalrun: cannot run " + path), 1) << end.err;
    EXPECT_THAT(end.err, Not(HasSubstr("shoalrun: rank")));
  }
}

TEST_F(ExitStatusOfFiles, TheProgramIsLookedUpInTheDirectoryAndPathOfTheRanks) {
  file("script", "#!/bin/sh\necho found $RANK\n", 0755);
  EXPECT_EQ(run_job({"-n", "1", "--wdir", directory_, "./script"}).out, "found 0\n");
  EXPECT_EQ(run_job({"-n", "1", "-x", "PATH=" + directory_, "script"}).out, "found 0\n");
}

TEST(Usage, WhatCannotBeIsRefusedWithOneClearMessage) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"-n", "0", "true"}, "-n 0"},
      {{"-n", "-1", "true"}, "-n -1"},
      {{"-n", "abc", "true"}, "-n abc"},
      {{"-n", "2x", "true"}, "-n 2x"},
      {{"-n", "", "true"}, "-n"},
      {{"-n", "99999999999", "true"}, "-n 99999999999"},
      {{"-n", "1000000", "true"}, "1000000 ranks"},
      {{"-n", "2"}, "no program"},
      {{"-n", "2", "--"}, "no program"},
      {{}, "no program"},
      {{"--no-such-option", "true"}, "--no-such-option"},
      {{"-q", "true"}, "-q"},
      {{"--timeout", "soon", "true"}, "--timeout soon"},
      {{"--timeout", "-1s", "true"}, "--timeout -1s"},
      {{"--grace", "10", "true"}, "--grace 10"},
      {{"--heap", "1X", "true"}, "--heap 1X"},
      {{"--channel", "-5", "true"}, "--channel -5"},
      {{"--bind", "socket", "true"}, "--bind socket"},
      {{"--wdir", "/nowhere/at-all", "true"}, "--wdir /nowhere/at-all"},
      {{"--wdir", "/etc/passwd", "true"}, "--wdir /etc/passwd"},
      {{"-x", "=1", "true"}, "-x =1"},
      {{"-n", "1", "-n", "2", "true"}, "-n,--np: given more than once"},
      {{"--heap", "1M", "--heap", "2M", "true"}, "--heap: given more than once"},
      {{"--only-rank", "", "true"}, "--only-rank: a list of ranks"},
      {{"-x", "SHOAL_TEST_UNSET_VARIABLE", "true"}, "-x SHOAL_TEST_UNSET_VARIABLE"},
  };
  for (const auto& [arguments, named] : cases) {
    const JobEnd end = run_job(arguments);
    EXPECT_EQ(end.exit_code, 2) << named;
    EXPECT_EQ(end.out, "");
    EXPECT_EQ(lines_of(end.err).size(), 1U) << end.err;
    EXPECT_THAT(end.err, testing::StartsWith("shoalrun: "));
    EXPECT_THAT(end.err, HasSubstr(named));
  }
}

TEST(Usage, HelpAndVersionGoToStandardOutput) {
  const JobEnd help = run_job({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.err, "");
  for (const std::string option :
       {"--np", "--tag", "--timeout", "--grace", "-x", "--wdir", "--heap", "--channel", "--bind", "--version"})
    EXPECT_THAT(help.out, HasSubstr(option));
  const JobEnd version = run_job({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, testing::MatchesRegex("shoalrun [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Usage, WhatCannotBePrintedIsAnError) {
  for (const std::string option : {"--help", "--version", "--dry-run true"}) {
    const JobEnd end = run_job({"-n", "1", "sh", "-c", SHOALRUN + std::string(" ") + option + " >/dev/full; echo $?"});
    EXPECT_EQ(end.out, "1\n") << option;
    EXPECT_THAT(end.err, HasSubstr("shoalrun: cannot write to standard output: No space left on device")) << option;
  }
}

TEST(Usage, OptionsOfTheProgramAreLeftToIt) {
  EXPECT_EQ(run_job({"-n", "1", "echo", "-n", "5", "--help", "--", "-x"}).out, "5 --help -- -x");
  EXPECT_EQ(run_job({"-n", "1", "--", "echo", "--version", "--tag"}).out, "--version --tag\n");
  EXPECT_EQ(run_job({"-n1", "--tag", "echo", "--tag"}).out, "[0] --tag\n");
}

}  // namespace
}  // namespace shoal::test

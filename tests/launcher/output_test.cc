// Standard input, output and error of the ranks.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <map>

#include "running_job.h"

namespace shoal::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(Output, ArrivesOnTheStreamThatItWasWrittenTo) {
  const JobEnd end = run_job({"-n", "2", "sh", "-c", "echo out $RANK; echo err $RANK >&2"});
  EXPECT_THAT(lines_of(end.out), UnorderedElementsAre("out 0", "out 1"));
  EXPECT_THAT(lines_of(end.err), UnorderedElementsAre("err 0", "err 1"));
}

TEST(Output, OfManyRanksArrivesLineByLineAndComplete) {
  // Each rank writes its lines in pieces of a byte, so whole lines are the launcher's doing.
  const JobEnd end =
      run_job({"-n", "4", "sh", "-c",
               "for i in $(seq 1 300); do printf $RANK:; printf $i:; printf abcdefghijklm; printf '\\n'; done"});
  std::map<std::string, int> next;
  for (const std::string& line : lines_of(end.out)) {
    const std::string rank = line.substr(0, line.find(':'));
    EXPECT_EQ(line, rank + ":" + std::to_string(++next[rank]) + ":abcdefghijklm");
  }
  EXPECT_EQ(next, (std::map<std::string, int>{{"0", 300}, {"1", 300}, {"2", 300}, {"3", 300}}));
}

TEST(Output, KeepsLongLinesWhole) {
  // Above the capacity of a pipe and of every buffer but the one for lines.
  const JobEnd end =
      run_job({"-n", "3", "sh", "-c", "for i in 1 2 3; do head -c 900000 /dev/zero | tr '\\0' $RANK; echo; done"});
  std::map<char, int> lines;
  for (const std::string& line : lines_of(end.out)) {
    ASSERT_EQ(line.size(), 900000U);
    EXPECT_EQ(line.find_first_not_of(line.front()), std::string::npos);
    ++lines[line.front()];
  }
  EXPECT_EQ(lines, (std::map<char, int>{{'0', 3}, {'1', 3}, {'2', 3}}));
}

TEST(Output, WithoutAnyNewlineLosesNoByteHoweverMuchItIs) {
  const JobEnd end = run_job({"-n", "3", "sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' $RANK"});
  EXPECT_EQ(end.out.size(), 15000000U);
  for (const char rank : {'0', '1', '2'}) EXPECT_EQ(std::ranges::count(end.out, rank), 5000000);
}

TEST(Output, KeepsALastLineWithoutNewline) {
  EXPECT_EQ(run_job({"-n", "1", "printf", "no newline"}).out, "no newline");
  EXPECT_EQ(run_job({"-n", "1", "printf", "two\\nlines"}).out, "two\nlines");
  EXPECT_EQ(run_job({"-n", "1", "true"}).out, "");
}

TEST(Output, PassesEveryByteValueOn) {
  const std::string script = R"sh(i=0; while [ $i -lt 256 ]; do printf "\\$(printf %o $i)"; i=$((i+1)); done)sh";
  const JobEnd end = run_job({"-n", "1", "sh", "-c", script});
  ASSERT_EQ(end.out.size(), 256U);
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(static_cast<unsigned char>(end.out[i]), i);
}

TEST(Output, WrittenBeforeACrashIsShownBeforeTheCrashIsNamed) {
  for (const std::string end_of_rank : {"die ABRT", "die SEGV", "die KILL", "_exit 3"}) {
    const JobEnd end =
        run_job({"-n", "1", "sh", "-c",
                 "echo whole; printf part; printf errpart >&2; exec " + rank_program() + " " + end_of_rank});
    EXPECT_EQ(end.out, "whole\npart") << end_of_rank;
    EXPECT_THAT(end.err, testing::StartsWith("errpart\nshoalrun: rank 0 ")) << end_of_rank;
  }
}

TEST(Output, UnflushedTextOfARankThatExitsIsShown) {
  EXPECT_EQ(run_job({"-n", "1", rank_program(), "print", "buffered", "exit", "3"}).out, "buffered");
}

TEST(Output, TagsEachLineWithItsRank) {
  const JobEnd end = run_job({"--tag", "-n", "3", "sh", "-c", "echo a; echo; printf b; echo oops >&2"});
  EXPECT_EQ(end.exit_code, 0);
  for (const std::string rank : {"0", "1", "2"}) {
    const auto lines = lines_of(end.out);
    EXPECT_EQ(std::ranges::count(lines, "[" + rank + "] a"), 1) << end.out;
    EXPECT_EQ(std::ranges::count(lines, "[" + rank + "] "), 1) << end.out;
    EXPECT_EQ(std::ranges::count(lines, "[" + rank + "] b"), 1) << end.out;
    EXPECT_THAT(end.err, HasSubstr("[" + rank + "] oops\n"));
  }
}

TEST(Output, OfASlowReaderIsCompleteAndHeldBackMeanwhile) {
  RunningJob job({"-n", "2", "sh", "-c", "seq 1 1000000; echo ended >&2"});
  // Nothing is read yet, so no rank can have got rid of its 6.9 MB: what it says then must not come, however long we
  // wait.
  EXPECT_FALSE(job.says("ended", std::chrono::milliseconds(300)));
  const JobEnd end = job.wait();
  EXPECT_EQ(end.err, "ended\nended\n");
  EXPECT_EQ(lines_of(end.out).size(), 2000000U);
  EXPECT_EQ(end.exit_code, 0);
}

TEST(Output, ThatNobodyReadsDoesNotKeepTheJobFromFailing) {
  // The launcher's own output is stuck; the rank's death must be seen all the same.
  RunningJob job({"-n", "2", "sh", "-c", "echo $RANK pid $$; test $RANK = 0 && exec yes; exec sleep 1000"});
  const auto pids = pids_by_rank(job.await_output("pid", 2), 2);
  job.signal(pids[1], SIGKILL);
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_THAT(job.left_behind(), IsEmpty());
}

TEST(Output, ThatNobodyWantsAnyMoreEndsTheJobQuietly) {
  RunningJob job({"-n", "2", "yes"});
  job.await_output("y");
  job.close_output();
  const JobEnd end = job.wait();
  EXPECT_EQ(end.exit_code, 128 + SIGPIPE);
  EXPECT_EQ(end.err, "");
  EXPECT_THAT(job.left_behind(), IsEmpty());
}

TEST(Output, ToAFullDeviceIsAnErrorThatIsNamed) {
  const std::string command = std::string(SHOALRUN) + " -n 1 echo text >/dev/full";
  const JobEnd end = run_job({"-n", "1", "sh", "-c", command + "; echo status $?"});
  EXPECT_EQ(end.out, "status 1\n");
  EXPECT_THAT(end.err, HasSubstr("shoalrun: cannot write to standard output: No space left on device"));
}

TEST(Output, ReachesItsEndEvenIfADetachedProcessHoldsItOpen) {
  // Detached from the job altogether it cannot be: it is ended. Its pipe is not waited for.
  RunningJob job({"-n", "1", "sh", "-c", "setsid sleep 1000 & echo done"});
  const JobEnd end = job.wait();
  EXPECT_EQ(end.out, "done\n");
  EXPECT_EQ(end.exit_code, 0);
}

TEST(Output, OfBothStreamsIntoOnePipeStaysLineByLine) {
  const std::string ranks = "for i in $(seq 1 200); do echo out $RANK; echo err $RANK >&2; done";
  const std::string command = std::string(SHOALRUN) + " -n 2 sh -c '" + ranks + "' 2>&1";
  const JobEnd end = run_job({"-n", "1", "sh", "-c", command});
  std::map<std::string, int> lines;
  for (const std::string& line : lines_of(end.out)) ++lines[line];
  EXPECT_EQ(lines, (std::map<std::string, int>{{"out 0", 200}, {"out 1", 200}, {"err 0", 200}, {"err 1", 200}}));
}

TEST(Input, BelongsToRankZero) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::write(ends[1], "one\ntwo\n", 8), 8);
  ::close(ends[1]);
  RunningJob job({"--tag", "-n", "3", "cat"}, {}, ends[0]);
  ::close(ends[0]);
  EXPECT_EQ(job.wait().out, "[0] one\n[0] two\n");
}

TEST(Input, IsNotTakenFromTheLoopThatShoalrunStandsIn) {
  const std::string loop = R"(printf '1\n2\n3\n' | while read line; do echo $line; )" SHOALRUN " -n 2 true; done";
  EXPECT_EQ(run_job({"-n", "1", "sh", "-c", loop}).out, "1\n2\n3\n");
}

TEST(Input, FromATerminalReachesRankZero) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  const int keyboard = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(keyboard, 0);
  RunningJob job({"-n", "2", "sh", "-c", "read line; echo $RANK got $line"}, {}, keyboard);
  ASSERT_EQ(::write(terminal, "typed\n", 6), 6);
  job.await_output("0 got typed\n");
  EXPECT_EQ(job.wait().exit_code, 0);
  ::close(keyboard);
  ::close(terminal);
}

TEST(Output, OfErrorsThatNobodyReadsEndsTheJobAsWell) {
  const std::string script =
      "{ " + std::string(SHOALRUN) +
      " -n 2 sh -c 'yes >&2' 2>&1 >/dev/null; echo status $? >&3; } 3>&2 2>/dev/null | head -n 1";
  const JobEnd end = run_job({"-n", "1", "sh", "-c", script});
  EXPECT_EQ(end.out, "y\n");
  EXPECT_EQ(end.err, "status 141\n");
}

TEST(Environment, TellsEachRankItsPlace) {
  const std::string script =
      "echo $SHOAL_RANK $SHOAL_WORLD_SIZE $SHOAL_LOCAL_RANK $SHOAL_LOCAL_WORLD_SIZE $RANK $WORLD_SIZE $LOCAL_RANK "
      "$LOCAL_WORLD_SIZE ${SHOAL_JOB:+job}";
  const JobEnd end = run_job({"-n", "3", "sh", "-c", script}, {"SHOAL_RANK=77", "WORLD_SIZE=78"});
  EXPECT_THAT(lines_of(end.out),
              UnorderedElementsAre("0 3 0 3 0 3 0 3 job", "1 3 1 3 1 3 1 3 job", "2 3 2 3 2 3 2 3 job"));
}

TEST(Environment, IsSetAndPassedOnAsAsked) {
  const JobEnd end = run_job({"-n", "1", "-x", "A=1=2", "-x", "EMPTY=", "-x", "B", "sh", "-c", "echo \"$A|$EMPTY|$B\""},
                             {"B=from here", "A=old"});
  EXPECT_EQ(end.out, "1=2||from here\n");
}

TEST(Environment, GivesARankNoDescriptorButItsStreamsAndTheSegment) {
  const JobEnd end =
      run_job({"-n", "2", "sh", "-c", "ls /proc/self/fd | wc -l; readlink /proc/self/fd/${SHOAL_JOB#*:}"});
  for (const std::string& line : lines_of(end.out))
    // 0, 1, 2, the segment, and the one by which ls reads the directory.
    EXPECT_TRUE(line == "5" || line.find("memfd:shoal") != std::string::npos) << line;
}

TEST(Environment, GivesARankDefaultSignalsAndAGroupOfItsOwn) {
  const JobEnd end =
      run_job({"-n", "2", "sh", "-c", "grep -E 'SigBlk|SigIgn' /proc/self/status; ps -o pgid= -p $$; echo $$"});
  std::map<std::string, int> fields;
  std::vector<std::string> numbers;
  for (std::string line : lines_of(end.out)) {
    if (line.starts_with("Sig")) {
      EXPECT_EQ(line.substr(line.find_first_of(" \t") + 1), "0000000000000000") << line;
    } else {
      line.erase(0, line.find_first_not_of(' '));
      ++fields[line];
    }
  }
  EXPECT_EQ(fields.size(), 2U) << end.out;  // Twice each: the group is the process.
  for (const auto& [number, times] : fields) EXPECT_EQ(times, 2);
}

TEST(Ranks, MayOutnumberTheCores) {
  const JobEnd end = run_job({"-n", "16", rank_program(), "join", "rounds", "20"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
}

TEST(Ranks, NeedDescriptorsAndTheLackOfThemIsNamed) {
  const std::string command = "ulimit -n 64; " + std::string(SHOALRUN) + " -n 200 true; echo status $?";
  const JobEnd end = run_job({"-n", "1", "sh", "-c", command});
  EXPECT_EQ(end.out, "status 1\n");
  EXPECT_THAT(end.err, HasSubstr("shoalrun: 200 ranks need 832 open files, and the limit is 64 (ulimit -n)"));
}

}  // namespace
}  // namespace shoal::test

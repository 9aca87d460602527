// Who reads shoalrun's standard input, and that nothing else is taken from it or done to it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "running_job.h"

namespace shoal::test {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// What a shell makes of `script`, in which $shoalrun is the launcher.
JobEnd run_shell(const std::string& script) {
  return RunningJob({"-n", "1", "sh", "-c", "shoalrun=" + std::string(SHOALRUN) + "; " + script}).wait();
}

/// A file of 10 MiB in which no two lines are alike.
class BigInput : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = std::size_t{10} << 20;

  void SetUp() override {
    std::string text;
    for (int line = 0; text.size() < kBytes; ++line) text += std::to_string(line) + ": some text\n";
    text.resize(kBytes);
    std::ofstream(file_) << text;
  }
  void TearDown() override { std::filesystem::remove(file_); }

  const std::string file_ = testing::TempDir() + "shoalrun-input-" + std::to_string(::getpid());
};

TEST_F(BigInput, ReachesOneRankUnharmedFromAFileAndFromAPipe) {
  for (const int ranks : {1, 2, 40}) {
    for (const int reader : {0, ranks - 1}) {
      const std::string job = "$shoalrun -n " + std::to_string(ranks) + " --stdin " + std::to_string(reader) +
                              " sh -c 'test $RANK != " + std::to_string(reader) + " || cmp - " + file_ + "'";
      for (const std::string& script : {job + " <" + file_, "cat " + file_ + " | " + job}) {
        const JobEnd end = run_shell(script);
        EXPECT_EQ(end.exit_code, 0) << script << end.out << end.err;
      }
    }
  }
}

TEST_F(BigInput, ReachesAllRanksUnharmedFromAFileAndFromAPipe) {
  for (const int ranks : {1, 2, 7}) {
    const std::string job = "$shoalrun -n " + std::to_string(ranks) + " --stdin all cmp - " + file_;
    for (const std::string& script : {job + " <" + file_, "cat " + file_ + " | " + job}) {
      const JobEnd end = run_shell(script);
      EXPECT_EQ(end.exit_code, 0) << script << end.out << end.err;
    }
  }
}

TEST_F(BigInput, ForAllIsNotHeldUpByRanksThatEndOrCloseTheirs) {
  const JobEnd end = run_shell("cat " + file_ + " | $shoalrun -n 4 --stdin all sh -c 'case $RANK in 0) exit 0;; 1) " +
                               "exec <&-; sleep 0.2;; 2) head -c 10 >/dev/null;; 3) cmp - " + file_ + ";; esac'");
  EXPECT_EQ(end.exit_code, 0) << end.out << end.err;
}

TEST(Input, IsReadByNobodyIfNoneIsAsked) {
  EXPECT_EQ(run_shell("echo text | $shoalrun -n 2 --stdin none cat").out, "");
  EXPECT_EQ(
      run_shell("printf '1\\n2\\n3\\n' | while read line; do echo $line; $shoalrun -n 2 --stdin none cat; done").out,
      "1\n2\n3\n");
}

TEST(Input, ThatIsEmptyOrClosedIsEmptyForEveryReader) {
  for (const char* reader : {"0", "1", "all", "none"}) {
    for (const char* input : {"</dev/null", "<&-"}) {
      const JobEnd end = run_shell(std::string("$shoalrun -n 2 --stdin ") + reader + " cat " + input);
      EXPECT_EQ(end.exit_code, 0) << reader << input << end.err;
      EXPECT_EQ(end.out, "");
    }
  }
}

TEST(Input, IsTakenNoFurtherThanTheRankReads) {
  // `read` takes its line byte by byte; what follows is for the next program.
  EXPECT_EQ(
      run_shell("printf '1\\n2\\n3\\n' | ($shoalrun -n 2 sh -c 'test $RANK != 0 || { read x; echo rank $x; }'; cat)")
          .out,
      "rank 1\n2\n3\n");
}

TEST(Input, EndsForItsWriterWhenTheReaderIsGone) {
  // `yes` would write for ever: it is told by SIGPIPE.
  EXPECT_EQ(run_shell("yes | $shoalrun -n 2 sh -c 'test $RANK != 0 || head -n 1'; echo after").out, "y\nafter\n");
  EXPECT_EQ(run_shell("yes | $shoalrun -n 2 --stdin all head -n 1; echo after").out, "y\ny\nafter\n");
}

TEST(Input, AndOutputKeepTheFlagsThatTheyHad) {
  std::array<int, 2> in{};
  ASSERT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
  for (const char* reader : {"0", "all", "none"}) {
    const int before = ::fcntl(in[0], F_GETFL);
    RunningJob job({"-n", "2", "--stdin", reader, "sh", "-c", "echo up; sleep 0.1"}, {}, in[0]);
    job.await_output("up", 2);
    EXPECT_EQ(::fcntl(in[0], F_GETFL), before) << reader;
    EXPECT_EQ(job.wait().exit_code, 0);
    EXPECT_EQ(::fcntl(in[0], F_GETFL), before) << reader;
  }
  ::close(in[0]);
  ::close(in[1]);
  // A program that shares the pipe and cannot live with O_NONBLOCK.
  const JobEnd end = run_shell("($shoalrun -n 2 seq 1 200000; seq 1 200000) | { sleep 0.1; wc -l; }");
  EXPECT_EQ(end.out, "600000\n");
  EXPECT_EQ(end.err, "");
}

}  // namespace
}  // namespace shoal::test

// shoalrun at a terminal: a pseudo-terminal is its controlling one, the tests press the keys.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "running_job.h"

namespace shoal::test {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kInterrupt = "\x03";
constexpr const char* kQuit = "\x1c";
constexpr const char* kSuspend = "\x1a";
constexpr const char* kEndOfInput = "\x04";

/// A program that leads a session at a terminal of its own.
class AtTerminal {
 public:
  explicit AtTerminal(std::vector<std::string> command) {
    pid_ = ::forkpty(&screen_, nullptr, nullptr, nullptr);
    if (pid_ < 0) throw std::runtime_error("no terminal");
    if (pid_ > 0) return;
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    ::setenv("PS1", "prompt$ ", 1);
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(99);
  }
  AtTerminal(const AtTerminal&) = delete;
  AtTerminal& operator=(const AtTerminal&) = delete;
  ~AtTerminal() {
    hang_up();
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  pid_t pid() const { return pid_; }
  int screen() const { return screen_; }
  void press(const std::string& keys) const {
    ASSERT_EQ(::write(screen_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  /// Waits until the screen has shown `text` after what was awaited before.
  void await(const std::string& text) {
    const auto deadline = steady_clock::now() + RunningJob::kPatience;
    for (;;) {
      if (const auto at = shown_.find(text, seen_); at != std::string::npos) {
        seen_ = at + text.size();
        return;
      }
      if (steady_clock::now() > deadline || !read_some())
        throw std::runtime_error("the terminal does not show '" + text + "': " + shown_);
    }
  }
  /// All that was shown, to the end of the program; its status as a shell has it.
  int wait() {
    while (read_some()) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  void await_stop() {
    int status = 0;
    ASSERT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }
  void hang_up() {
    if (screen_ >= 0) ::close(screen_);
    screen_ = -1;
  }
  const std::string& shown() const { return shown_; }

 private:
  bool read_some() {
    pollfd screen{.fd = screen_, .events = POLLIN, .revents = 0};
    if (::poll(&screen, 1, RunningJob::kPatience / std::chrono::milliseconds(1)) <= 0) return false;
    std::array<char, 4096> piece{};
    const ssize_t size = ::read(screen_, piece.data(), piece.size());  // EIO: nobody has the terminal any more.
    if (size > 0) shown_.append(piece.data(), static_cast<std::size_t>(size));
    return size > 0;
  }

  int screen_ = -1;
  pid_t pid_ = -1;
  std::string shown_;
  std::size_t seen_ = 0;
};

std::vector<std::string> job(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SHOALRUN);
  return arguments;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

TEST(Terminal, ControlCGivesEachRankOneInterrupt) {
  AtTerminal terminal(
      job({"-n", "2", "sh", "-c",
           "trap 'echo interrupted' INT; echo ready; n=0; while [ $n -lt 20 ]; do sleep 0.05; n=$((n+1)); "
           "done; exit 0"}));
  terminal.await("ready");
  terminal.await("ready");
  terminal.press(kInterrupt);
  EXPECT_EQ(terminal.wait(), 0);
  EXPECT_EQ(count(terminal.shown(), "interrupted"), 2) << terminal.shown();
}

TEST(Terminal, ControlCTwiceEndsWhoIgnoresIt) {
  AtTerminal terminal(job({"-n", "2", rank_program(), "ignore", "INT", "pid", "pause"}));
  terminal.await(" pid ");
  terminal.await(" pid ");
  terminal.press(kInterrupt);
  terminal.await("SIGINT: passed on to the ranks");
  terminal.press(kInterrupt);
  EXPECT_EQ(terminal.wait(), 130);
}

TEST(Terminal, QuitKeyShowsWhoWaitsForWhom) {
  AtTerminal terminal(job({"-n", "2", rank_program(), "join", "pid", "pause"}));
  terminal.await("pid");
  terminal.await("pid");
  terminal.press(kQuit);
  terminal.await("who waits for whom");
  terminal.await("rank 1 is in no call");
  terminal.press(kInterrupt);
  EXPECT_EQ(terminal.wait(), 130);
}

TEST(Terminal, SuspendKeyStopsTheJobUntilItIsContinued) {
  AtTerminal terminal(job({"-n", "2", rank_program(), "catch", "INT", "pid", "pause"}));
  terminal.await(" pid ");
  terminal.await(" pid ");
  terminal.press(kSuspend);
  terminal.await_stop();
  ::kill(terminal.pid(), SIGCONT);
  terminal.press(kInterrupt);
  terminal.await("caught INT");
  EXPECT_EQ(terminal.wait(), 0);
}

// A progress bar is a line that is written over; the ranks are told that it can be.
TEST(Terminal, ShowsWhatEndsWithACarriageReturnAndTellsTheRanks) {
  AtTerminal terminal(
      job({"-n", "1", "sh", "-c",
           "trap 'exit 0' INT; echo terminal $SHOAL_TERMINAL; printf '10 %%\r'; while :; do sleep 0.05; done"}));
  terminal.await("terminal 1");
  terminal.await("10 %\r");
  terminal.press(kInterrupt);
  EXPECT_EQ(terminal.wait(), 0);
  AtTerminal tagged(job({"--tag", "-n", "1", "sh", "-c", "echo terminal $SHOAL_TERMINAL"}));
  tagged.await("terminal 0");
  EXPECT_EQ(tagged.wait(), 0);
}

TEST(Terminal, TypedLinesReachTheReaderToTheirEnd) {
  AtTerminal terminal(job({"--tag", "-n", "3", "--stdin", "1", "cat"}));
  terminal.press("first\n");
  terminal.await("[1] first");
  terminal.press("second\n");
  terminal.await("[1] second");
  terminal.press(kEndOfInput);
  EXPECT_EQ(terminal.wait(), 0);
  EXPECT_THAT(terminal.shown(), Not(HasSubstr("[0]")));
}

TEST(Terminal, TypedLinesReachAllIfAllRead) {
  AtTerminal terminal(job({"--tag", "-n", "2", "--stdin", "all", "sh", "-c", "read x; echo got $x"}));
  terminal.press("line\n");
  EXPECT_EQ(terminal.wait(), 0);
  EXPECT_THAT(terminal.shown(), HasSubstr("[0] got line"));
  EXPECT_THAT(terminal.shown(), HasSubstr("[1] got line"));
}

TEST(Terminal, KeepsItsModesAndItsFlags) {
  int screen = -1;
  int keyboard = -1;
  ASSERT_EQ(::openpty(&screen, &keyboard, nullptr, nullptr, nullptr), 0);
  termios before{};
  ::tcgetattr(keyboard, &before);
  const int flags = ::fcntl(keyboard, F_GETFL);
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"-n", "2", "true"}, {"-n", "2", "--stdin", "all", "true"}}) {
    EXPECT_EQ(RunningJob(arguments, {}, keyboard).wait().exit_code, 0);
    RunningJob killed({"-n", "2", "sleep", "1000"}, {}, keyboard);
    killed.signal(SIGKILL);
    killed.wait();
    termios after{};
    ::tcgetattr(keyboard, &after);
    EXPECT_EQ(std::memcmp(&before, &after, sizeof before), 0);
    EXPECT_EQ(::fcntl(keyboard, F_GETFL), flags);
  }
  ::close(screen);
  ::close(keyboard);
}

TEST(Terminal, ThatHangsUpEndsTheJob) {
  const std::string mark = "SHOAL_HANG_UP_TEST=" + std::to_string(::getpid());
  AtTerminal terminal(job({"-x", mark, "-n", "2", "sh", "-c", "echo up; exec sleep 1000"}));
  terminal.await("up");
  terminal.await("up");
  terminal.hang_up();
  int status = 0;
  const auto deadline = steady_clock::now() + RunningJob::kPatience;
  while (::waitpid(terminal.pid(), &status, WNOHANG) == 0 && steady_clock::now() < deadline) ::usleep(1000);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 128 + SIGHUP) << status;
}

// A shell with job control, as at a user's terminal.
class Shell : public testing::Test {
 protected:
  void run(const std::string& line) { terminal_.press(line + "\n"); }
  AtTerminal terminal_{{"bash", "--norc", "--noprofile", "-i"}};
  const std::string shoalrun_ = SHOALRUN;
};

TEST_F(Shell, JobInTheBackgroundRunsAndLeavesWhatIsTypedToTheShell) {
  terminal_.await("prompt$ ");
  run(shoalrun_ + " -n 1 sh -c 'echo u''p; cat; echo d''one' &");
  terminal_.await("up");
  for (int line = 0; line < 20; ++line) {
    run("echo shell-$((" + std::to_string(line) + "+100))");
    terminal_.await("shell-" + std::to_string(line + 100));
  }
  run("jobs");
  terminal_.await("Running");
  run("fg");
  terminal_.await("prompt$ fg");
  terminal_.await("cat;");  // Now fg shows the command, and what is typed is the job's.
  run("for the rank");
  terminal_.await("for the rank");  // The echo of the keys,
  terminal_.await("for the rank");  // and of `cat`.
  terminal_.press(kEndOfInput);
  terminal_.await("done");
  run("exit 7");
  EXPECT_EQ(terminal_.wait(), 7);
}

TEST_F(Shell, SuspendedJobGoesOnInTheBackgroundAndInTheForeground) {
  terminal_.await("prompt$ ");
  run(shoalrun_ + " -n 2 sh -c 'trap \"echo la''st; exit 0\" USR1; echo u''p; while :; do sleep 0.05; done'");
  terminal_.await("up");
  terminal_.await("up");
  terminal_.press(kSuspend);
  terminal_.await("Stopped");
  run("bg");
  run("jobs");
  terminal_.await("Running");
  run("kill -USR1 %1; wait %1; echo status-$?");
  terminal_.await("last");
  terminal_.await("status-0");
  run("exit 0");
  EXPECT_EQ(terminal_.wait(), 0);
}

TEST_F(Shell, ScriptsLoopKeepsItsInput) {
  terminal_.await("prompt$ ");
  run("printf '1\\n2\\n3\\n' | while read x; do " + shoalrun_ + " -n 2 true; echo line-$x; done");
  for (const char* line : {"line-1", "line-2", "line-3"}) terminal_.await(line);
  run("exit 0");
  EXPECT_EQ(terminal_.wait(), 0);
}

}  // namespace
}  // namespace shoal::test

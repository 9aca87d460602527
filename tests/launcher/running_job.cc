// Who descends from a job is found by a variable in its environment, which a process keeps whatever becomes of its
// parents, session and group.
#include "running_job.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "descendants.h"

namespace shoal::test {
namespace {

using std::chrono::steady_clock;

std::string new_mark() {
  static std::atomic<int> count{0};
  return "SHOAL_TEST_MARK=" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".";
}

[[noreturn]] void become_shoalrun(const std::vector<std::string>& arguments,
                                  const std::vector<std::string>& environment, int in, int out, int err) {
  ::setpgid(0, 0);
  // Whoever runs the tests, in the background of a script say, may ignore some.
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  // Whatever runs the tests may have left descriptors open for us.
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  std::vector<std::string> kept = environment;
  for (std::string& entry : kept) ::putenv(entry.data());
  std::vector<std::string> all{SHOALRUN};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(all.size() + 1);
  for (std::string& argument : all) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execv(SHOALRUN, argv.data());
  ::_exit(99);
}

std::array<int, 2> new_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return ends;
}

// Empty for a process that has ended; a std::ifstream would throw if it does so meanwhile.
std::string environment_of(pid_t pid) {
  std::string text;
  const int file = ::open(("/proc/" + std::to_string(pid) + "/environ").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 65536> piece{};
  for (ssize_t size = 0; (size = ::read(file, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(size));
  ::close(file);
  return text;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace

RunningJob::RunningJob(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                       int input)
    : mark_(new_mark()), begun_(steady_clock::now()) {
  const auto out = new_pipe();
  const auto err = new_pipe();
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  std::vector<std::string> variables = environment;
  variables.push_back(mark_);
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("no process");
  ::setpgid(pid_, pid_);  // Also done by the child: whoever comes first.
  if (pid_ == 0) become_shoalrun(arguments, variables, input >= 0 ? input : null, out[1], err[1]);
  for (const int end : {out[1], err[1], null}) ::close(end);
  streams_ = {out[0], err[0]};
}

RunningJob::~RunningJob() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const int stream : streams_)
    if (stream >= 0) ::close(stream);
}

pid_t RunningJob::guard() const {
  const auto deadline = steady_clock::now() + kPatience;
  while (steady_clock::now() < deadline) {
    for (const auto& process : shoal::detail::descendants())
      if (process.parent == pid_) return process.pid;
    std::this_thread::yield();
  }
  throw std::runtime_error("shoalrun has no child");
}

void RunningJob::read_piece(std::size_t stream) {
  std::array<char, 65536> piece{};
  const ssize_t size = ::read(streams_[stream], piece.data(), piece.size());
  if (size > 0) {
    texts_[stream].append(piece.data(), static_cast<std::size_t>(size));
  } else if (size == 0) {
    ::close(streams_[stream]);
    streams_[stream] = -1;
  }
}

bool RunningJob::read_some(steady_clock::time_point deadline) {
  std::array<pollfd, 2> sources{pollfd{streams_[0], POLLIN, 0}, pollfd{streams_[1], POLLIN, 0}};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
  if (left.count() <= 0 || ::poll(sources.data(), sources.size(), static_cast<int>(left.count())) == 0)
    throw std::runtime_error("shoalrun said nothing more; so far: " + texts_[0] + texts_[1]);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].revents != 0) read_piece(i);
  }
  return streams_[0] >= 0 || streams_[1] >= 0;
}

std::string RunningJob::await(std::size_t stream, const std::string& text, int times) {
  const auto deadline = steady_clock::now() + kPatience;
  while (count(texts_[stream], text) < times)
    if (!read_some(deadline)) throw std::runtime_error("output ended without " + text + ": " + texts_[0] + texts_[1]);
  return texts_[stream];
}

std::string RunningJob::await_output(const std::string& text, int times) { return await(0, text, times); }
std::string RunningJob::await_error(const std::string& text) { return await(1, text, 1); }

bool RunningJob::says(const std::string& text, std::chrono::milliseconds time) {
  const auto deadline = steady_clock::now() + time;
  while (texts_[1].find(text) == std::string::npos && streams_[1] >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
    pollfd errors{.fd = streams_[1], .events = POLLIN, .revents = 0};
    if (left <= 0 || ::poll(&errors, 1, static_cast<int>(left)) == 0) return false;
    read_piece(1);
  }
  return texts_[1].find(text) != std::string::npos;
}

void RunningJob::signal(int signal) { this->signal(pid_, signal); }

void RunningJob::signal(pid_t process, int signal) {
  begun_ = steady_clock::now();
  ::kill(process, signal);
}

void RunningJob::signal_group(int signal) {
  begun_ = steady_clock::now();
  ::kill(-pid_, signal);
}

void RunningJob::close_output() {
  ::close(streams_[0]);
  streams_[0] = -1;
}

JobEnd RunningJob::wait() {
  const auto deadline = steady_clock::now() + kPatience;
  while ((streams_[0] >= 0 || streams_[1] >= 0) && read_some(deadline)) {
  }
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return {.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
          .out = texts_[0],
          .err = texts_[1],
          .took = std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begun_)};
}

std::vector<pid_t> RunningJob::left_behind() const {
  std::vector<pid_t> found;
  const auto deadline = steady_clock::now() + std::chrono::seconds(3);
  do {
    found.clear();
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const auto pid = static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10));
      if (pid <= 0 || pid == ::getpid()) continue;
      if (environment_of(pid).find(mark_) != std::string::npos) found.push_back(pid);
    }
    if (!found.empty()) std::this_thread::yield();
  } while (!found.empty() && steady_clock::now() < deadline);
  return found;
}

JobEnd run_job(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  return RunningJob(arguments, environment).wait();
}

std::string rank_program() { return RANK_PROGRAM; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<pid_t> pids_by_rank(const std::string& text, int ranks) {
  std::vector<pid_t> pids(static_cast<std::size_t>(ranks), -1);
  for (const std::string& line : lines_of(text)) {
    int rank = -1;
    pid_t pid = -1;
    if (std::sscanf(line.c_str(), "%d pid %d", &rank, &pid) == 2) pids.at(static_cast<std::size_t>(rank)) = pid;
  }
  return pids;
}

void await_stopped(pid_t process, bool stopped) {
  const auto deadline = std::chrono::steady_clock::now() + RunningJob::kPatience;
  for (;;) {
    const auto now = detail::read_process(process);
    ASSERT_TRUE(now) << process << " has ended";
    if ((now->state == 'T') == stopped) return;
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace shoal::test

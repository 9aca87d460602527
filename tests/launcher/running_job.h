#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace shoal::test {

struct JobEnd {
  int exit_code = 0;  ///< 128 + signal where a signal ended shoalrun itself.
  std::string out;
  std::string err;
  std::chrono::milliseconds took{0};  ///< From the last signal(), else from the start.
};

/// A real shoalrun, run by a test. Everything that waits gives up after kPatience and fails the test.
class RunningJob {
 public:
  static constexpr std::chrono::seconds kPatience{60};

  /// `arguments`: what follows `shoalrun`. `environment`: added to this process's. Standard input is /dev/null, or the
  /// descriptor `input`.
  explicit RunningJob(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {},
                      int input = -1);
  RunningJob(const RunningJob&) = delete;
  RunningJob& operator=(const RunningJob&) = delete;
  ~RunningJob();

  pid_t pid() const noexcept { return pid_; }
  /// The guard's process: the only child of shoalrun.
  pid_t guard() const;

  /// Waits until standard output holds `text` so many times, and returns all of it so far.
  std::string await_output(const std::string& text, int times = 1);
  /// The same of standard error.
  std::string await_error(const std::string& text);
  /// Whether standard error holds `text` within `time`; standard output is not read meanwhile.
  bool says(const std::string& text, std::chrono::milliseconds time);
  void signal(int signal);
  /// To shoalrun's process group, as a keyboard's or a shell's.
  void signal_group(int signal);
  /// To a process of the job.
  void signal(pid_t process, int signal);
  /// Reads to the end of both streams and waits for shoalrun.
  JobEnd wait();
  /// Closes the reading end of standard output.
  void close_output();

  /// Processes that descend from this job, wherever they are now, and still run. Waits up to three seconds for none.
  std::vector<pid_t> left_behind() const;

 private:
  std::string await(std::size_t stream, const std::string& text, int times);
  void read_piece(std::size_t stream);
  bool read_some(std::chrono::steady_clock::time_point deadline);

  std::string mark_;  // In the environment of all that descends from the job.
  pid_t pid_ = -1;
  std::array<int, 2> streams_{-1, -1};  // Reading ends of standard output and error.
  std::array<std::string, 2> texts_;
  std::chrono::steady_clock::time_point begun_;
};

/// Runs a job to its end.
JobEnd run_job(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {});

/// Path of the program that tests run as ranks (programs/rank_program.cc).
std::string rank_program();

/// Lines of `text` without their newlines.
std::vector<std::string> lines_of(const std::string& text);

/// The numbers after "pid " in `text`, such as ranks print: by rank, from lines "RANK pid PID".
std::vector<pid_t> pids_by_rank(const std::string& text, int ranks);

/// Waits until a process is stopped, or is not.
void await_stopped(pid_t process, bool stopped);

}  // namespace shoal::test

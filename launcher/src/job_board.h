#pragma once

#include <sys/types.h>

#include <boost/interprocess/mapped_region.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shoal/runtime/job_segment.h"

namespace shoal::detail {

/// What a rank's process used, with that of its own children that it waited for.
struct Usage {
  double user_s = 0;
  double system_s = 0;
  std::uint64_t max_rss_bytes = 0;
};

/// What became of a job, in memory that the launcher, the guard and the ranks share: made before the guard is
/// forked, written by the guard (a rank writes only its own error text), read by the launcher once the guard has
/// ended. The end of a process orders its writes before the reads of who waited for it, so nothing here is atomic.
class JobBoard {
 public:
  /// Throws Error `system` if the memory cannot be had.
  explicit JobBoard(int ranks);

  int ranks() const noexcept { return ranks_; }

  /// By rank `rank`: the text of the exception that ended it, cut at about 4 KiB.
  void set_error(int rank, std::string_view text);
  std::string error(int rank) const;

  /// By the guard: the number of a rank's process; 0: none yet.
  void set_process(int rank, pid_t process);
  pid_t process(int rank) const;

  /// By the guard: a rank's wait status, as waitpid gives it.
  void set_end(int rank, int wait_status, const Usage& usage);
  std::optional<int> wait_status(int rank) const;
  Usage usage(int rank) const;

  /// By the guard: the end of the job. `interrupted`: a signal asked for it, or made it sooner.
  void finish(int exit_code, const std::optional<FirstFailure>& failure, bool interrupted);
  /// By the guard: the job could not be started, and why.
  void refuse(std::string_view reason);

  bool finished() const;
  int exit_code() const;
  bool interrupted() const;
  std::optional<FirstFailure> first_failure() const;
  /// Empty unless refuse() was called.
  std::string refusal() const;

 private:
  struct Text;
  struct Head;
  struct Row;
  Head& head() const;
  Row& row(int rank) const;

  int ranks_;
  boost::interprocess::mapped_region memory_;
};

}  // namespace shoal::detail

#pragma once

#include <sys/types.h>

#include <functional>
#include <set>

#include "descriptor.h"

namespace shoal::detail {

/// The guard of a job: a process between the launcher and the ranks, in a session of its own, so that nothing meant
/// for the launcher (Ctrl-C, a kill of its process group) strikes it. It forks the ranks and looks after them.
///
///     launcher --control--> guard ----> rank 0, rank 1, ...
///
/// Each end survives the other's death by SIGKILL: the guard reads the end of the control pipe when the launcher is
/// gone; the launcher adopts what the guard leaves behind, both being subreapers of their descendants. Only the
/// guard must know of the job, so the launcher, which may be anyone's program, has one more child and nothing else.
class Guard {
 public:
  /// Forks the guard, which runs `supervise` with the reading end of the control pipe and exits with what it
  /// returns. Throws Error `system`.
  explicit Guard(const std::function<int(Descriptor control)>& supervise);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  Guard(Guard&&) = delete;
  Guard& operator=(Guard&&) = delete;
  ~Guard();

  /// Waits for the guard's end and gives its wait status. If it was killed, ends what it left behind first.
  int wait();
  /// Whether it has ended, so that wait() would not block.
  bool ended() const;
  /// Lets the guard have a signal that reached this process.
  void hand_on(int signal);

 private:
  void end_leftovers();

  pid_t guard_ = -1;
  Descriptor control_;
  bool was_subreaper_ = false;
  std::set<pid_t> own_children_;  // Those that this process had before: none of ours.
};

/// As `ps` shows the guard.
inline constexpr const char* kGuardName = "shoal-guard";

/// What travels on the control pipe: one byte per signal, its number.
using ControlByte = unsigned char;

}  // namespace shoal::detail

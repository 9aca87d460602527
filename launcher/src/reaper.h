#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <vector>

#include "descriptor.h"

namespace shoal::detail {

struct Death {
  pid_t pid = 0;
  int wait_status = 0;
  rusage usage{};
};

/// Reaps this process's children, watched ones in the order in which they died: waitpid alone gives those that are
/// ready at once in the order of their birth, and the first to die is the one to blame.
class Reaper {
 public:
  Reaper();

  /// From now on `child`'s place in the order is known. Where the kernel refuses, it is that of waitpid.
  void watch(pid_t child);

  /// All that have ended; never waits.
  std::vector<Death> reap();
  /// Whether no child at all is left, dead or alive, as of the last reap().
  bool childless() const noexcept { return childless_; }

 private:
  struct Watched {
    pid_t pid = 0;
    Descriptor handle;
  };
  Descriptor poll_;
  std::vector<Watched> watched_;
  bool childless_ = false;
};

}  // namespace shoal::detail

#pragma once

#include <memory>
#include <memory_resource>
#include <utility>

#include "shoal/runtime/communicator.h"
#include "shoal/runtime/job_segment.h"

namespace shoal {

/// This process's membership of its job. Under shoalrun it attaches to the job's segment as rank SHOAL_RANK;
/// a program run by itself is a world of one. Make one after any fork and before using the rest of shoal; it must
/// outlive the communicators and memory it gives out. Its end is no barrier: what this rank has sent can still be
/// read, and whoever waits for more from it gets `peer_lost`.
///
/// Throws Error `system` if the segment cannot be attached or its rank is taken by another process; `invalid_argument`
/// for what SHOAL_LOG and SHOAL_TIMEOUT cannot say.
class Session {
 public:
  Session();
  /// For launchers that fork ranks without exec: rank `rank` of the job in `segment`.
  Session(JobSegment segment, int rank);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Throws Error `mismatch` (unless an exception is in flight) if a call that this rank made does not fit a peer's and
  /// no message had shown it, or what it sent, or was sent, was never received.
  ~Session() noexcept(false);

  Communicator& world() noexcept;

  /// This rank's arena of the shared heap. One thread at a time; memory may be read by peers. Throws
  /// std::bad_alloc when exhausted.
  std::pmr::memory_resource* heap() noexcept;

 private:
  explicit Session(std::pair<JobSegment, int>&& membership);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal

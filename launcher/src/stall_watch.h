#pragma once

#include <chrono>
#include <cstdint>

namespace shoal::detail {

/// Tells when the calls of a job have not gone on for too long.
class StallWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit StallWatch(std::chrono::milliseconds limit) : limit_(limit) {}

  /// How often to look.
  std::chrono::milliseconds interval() const;

  /// A look at the job: its JobSegment::progress(), and whether it must go on, as when a rank is in a call. True if
  /// that has been so, with no progress, for the limit.
  bool look(std::uint64_t progress, bool must_go_on, Time now);
  /// Time before this does not count: the job was stopped.
  void begin_anew() { begun_ = false; }

 private:
  std::chrono::milliseconds limit_;
  std::uint64_t progress_ = 0;
  Time since_;
  bool begun_ = false;
};

}  // namespace shoal::detail

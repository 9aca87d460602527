#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/runtime/operation.h"
#include "shoal/runtime/traffic.h"

namespace shoal {

/// What a job's shared memory is made for.
struct JobShape {
  int ranks = 1;
  std::uint64_t channel_bytes = std::uint64_t{256} << 10;  ///< Ring per ordered pair; rounded up to a power of two.
  std::uint64_t heap_bytes = std::uint64_t{1} << 30;       ///< Shared heap per rank; only what is touched costs memory.
};

enum class FailureKind : std::uint32_t { exit, signal, left, timeout, stall, mismatch };
std::string_view name(FailureKind kind);

/// Why a job failed: the first thing that went wrong.
struct FirstFailure {
  int rank = -1;  ///< The culprit; -1 for the job as a whole (timeout).
  FailureKind kind = FailureKind::exit;
  int code = 0;           ///< Exit status, or signal number for kind `signal`.
  std::string message{};  ///< `rank 2 was ended by SIGKILL`.
};

/// What a rank has done about its session, as read from outside.
enum class RankPhase : std::uint32_t { absent, active, left };

/// A rank's last call, begun or finished, as read from outside.
struct LastCall {
  Call call{};
  std::uint64_t number = 0;    ///< It is so many of the rank's calls of that operation, counted from 1.
  std::uint64_t sequence = 0;  ///< And so many of all collective calls on its communicator; 0: point to point.
  bool in_world = true;        ///< Its communicator is that of all ranks.
  bool returned = false;
  bool failed = false;  ///< It returned by throwing.
};

/// One of a rank's last calls, as its recorder has it.
struct PastCall {
  std::uint64_t number = 0;  ///< Of all its calls, counted from 1.
  Call call{};
  std::uint64_t sequence = 0;                   ///< Of the collective calls on its communicator; 0: point to point.
  std::chrono::steady_clock::time_point begun;  ///< To some milliseconds.
  std::optional<std::chrono::steady_clock::time_point> ended{};
  bool failed = false;
};

/// "all_reduce number 17 (ring, f32 sum, count 784), call 40 of the world".
std::string describe(const LastCall& call);

/// The shared memory of one job (docs/shared_memory.md): a sealed memfd that holds everything ranks share and
/// vanishes with the last process that has it. Copies refer to the same mapping. The launcher makes it before
/// it forks; ranks attach through Session.
class JobSegment {
 public:
  /// Throws Error `system`, naming what was needed and what was refused; `invalid_argument` for a bad shape.
  static JobSegment create(const JobShape& shape);
  /// Attaches by the value of SHOAL_JOB. Throws Error `system` if it names no segment of this version.
  static JobSegment attach(const std::string& reference);

  /// Bytes that a job of this shape maps (most of them never touched).
  static std::uint64_t bytes_needed(const JobShape& shape);
  /// What of that is taken from the start where memory has to be reserved: all but the staging of communicators that a
  /// split makes, 512 KiB for each of their ranks.
  static std::uint64_t bytes_reserved(const JobShape& shape);

  /// The value of SHOAL_JOB for processes that inherit descriptor().
  std::string reference() const;
  /// Open in this process, close-on-exec: a launcher that execs a rank clears the flag in the child.
  int descriptor() const;
  int ranks() const;

  // ---- For the launcher: all may be called while ranks run, and believe nothing that ranks wrote ------------

  /// From now on this process, which is to have one thread, outlives it if ranks take memory of the segment away, as
  /// they can where it is not sealed (SHOAL_SEGMENT=posix): it then reads zeros. Sets the process's action for SIGBUS.
  void survive_cuts() const noexcept;
  /// Whether that was found to have happened, or the segment's file is shorter than it was made.
  bool was_cut() const noexcept;
  /// Ends all waiting: the first call stores `failure` and wakes every rank, whose waits throw `peer_lost` with its
  /// message. Later calls do nothing. Returns whether this call was the first.
  bool abort(const FirstFailure& failure) noexcept;
  /// Rank `rank`'s process is gone without a failure of its own: those who wait for it are woken and find it left.
  void rank_ended(int rank) noexcept;
  /// Of the ranks' own errors the first, in the order in which they broke the world: who was to blame. Empty when
  /// none broke it. A rank that waited for one that left reports the one that left.
  std::optional<FirstFailure> first_error() const;
  RankPhase phase(int rank) const;
  /// The process that made the session of `rank`, by its number in its own namespace; 0: none has.
  std::int32_t process(int rank) const;
  Traffic traffic(int rank) const;
  /// The last call that `rank` began; empty if it began none.
  std::optional<LastCall> last_call(int rank) const;
  /// The world rank that `rank` has been waiting for, for a while, in a call or on the way into one; -1: none.
  int awaited_by(int rank) const;
  /// Whether `rank` met an error in its last call or since: then whatever becomes of it may come of that.
  bool met_error(int rank) const;
  /// The world rank that it waited for when it met that error; -1: none.
  int gave_up_on(int rank) const;
  /// Its last calls, at most 256, the latest last.
  std::vector<PastCall> recent_calls(int rank) const;
  /// A digest of all that calls change as they go on. As long as it stays the same while ranks are in calls, none of
  /// them moved anything.
  std::uint64_t progress() const;

  struct Mapping;  // The runtime's own view; defined in runtime/src.
  Mapping& mapping() const { return *mapping_; }

 private:
  explicit JobSegment(std::shared_ptr<Mapping> mapping);
  std::shared_ptr<Mapping> mapping_;
};

}  // namespace shoal

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "shoal/runtime/communicator.h"

namespace shoal {

/// How a simulated world runs. The same options and body give the same run, to the last step.
struct SimulationOptions {
  /// Decides which rank goes on next and how much of a message moves, where `schedule` is random.
  std::uint64_t seed = 1;

  enum class Schedule : std::uint8_t {
    random,   ///< A rank may be interrupted at each transfer, piece of a message and flag; any that can may go on.
    in_order  ///< Ranks go on in the order in which they became able to; messages move whole. For large worlds.
  };
  Schedule schedule = Schedule::random;

  /// Payload bytes that a channel holds before its sender waits, rounded up to 16. 0: rendezvous, nothing moves before
  /// the receiver is there.
  std::uint64_t channel_bytes = std::uint64_t{64} << 10;
  static constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

  /// Which of the callers' buffers other ranks reach where they lie, as those in a job's shared heap. `some`: any,
  /// drawn for each buffer.
  enum class Reach : std::uint8_t { none, some, all };
  Reach reach = Reach::none;
  /// In half of the calls, drawn for each rank, the others can copy out of all its buffers, as by the kernel where it
  /// lets them.
  bool copies = false;
  /// What a rank can show the others of all else in one round; at least 64 for each rank, and at most what real ones
  /// have.
  std::size_t staging_bytes = detail::kStagingBytes;

  /// Messages have sizes but no content: buffers are never read or written. For worlds too large to hold the data.
  bool phantom = false;

  /// Virtual time: a message of b bytes keeps its sender busy for b / bytes_per_second and is there `latency` later.
  std::chrono::nanoseconds latency{120};
  double bytes_per_second = 10e9;

  /// Rank `rank` dies, as if killed, when it comes to its `point`-th scheduling point (from 1: each transfer and each
  /// access to a flag begins with one, and each wait ends with one).
  struct Death {
    int rank = 0;
    std::uint64_t point = 1;
  };
  std::optional<Death> death = std::nullopt;

  std::size_t stack_bytes = std::size_t{256} << 10;  ///< Of each rank's fiber; only what is touched costs memory.
};

/// How one simulated rank ended.
struct SimulatedRank {
  Traffic traffic;
  std::uint64_t messages = 0;  ///< Sent to other ranks.
  std::uint64_t steps = 0;     ///< Transfers: sends, receives, exchanges.
  std::uint64_t scheduling_points = 0;
  std::chrono::nanoseconds clock{0};    ///< Virtual time at its end.
  std::optional<ErrorCode> error_code;  ///< Of the Error that left the body.
  std::string error;                    ///< what() of the exception that left the body; empty where none did.
  bool died = false;                    ///< By SimulationOptions::death.
};

struct SimulationResult {
  SimulationOptions options;
  std::vector<SimulatedRank> ranks;
  /// Empty, or who waited for whom, in which call, when no rank could go on.
  std::string deadlock;

  /// Every rank's body returned.
  bool ok() const;
  std::chrono::nanoseconds time() const;  ///< The latest clock.
};
/// The seed that reproduces the run, and what went wrong.
std::ostream& operator<<(std::ostream& out, const SimulationResult& result);

/// Runs `body` as `ranks` fibers in this thread, joined by simulated channels. Needs no launcher, no shared memory.
/// When no rank can go on, every blocked one's call throws Error `timeout` with the table of who waits for whom.
/// Throws Error `invalid_argument` for ranks < 1 or options that cannot be.
///
/// `body` must not block other than in its communicator, nor leave things locked while it is in a call.
SimulationResult simulate(int ranks, const std::function<void(Communicator&)>& body,
                          const SimulationOptions& options = {});

}  // namespace shoal

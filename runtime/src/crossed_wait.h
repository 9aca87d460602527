#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "call_book.h"
#include "call_errors.h"

namespace shoal::detail {

/// Ranks that wait for each other in a circle, each in a call that the next has not begun: no deadline is needed to
/// know that none of them will ever go on.
struct CrossedWait {
  int peer = -1;                             ///< For whom this rank waits, a world rank.
  RecordedCall ours;                         ///< The call in which it does,
  RecordedCall theirs;                       ///< and that in which the peer waits,
  int awaited_by_peer = -1;                  ///< for this rank or the next in the circle.
  std::vector<std::uint64_t> communicators;  ///< Those of all calls of the circle.
};

/// What there is to see of the ranks of a job.
struct WaitView {
  StateOf state_of;
  std::function<Awaited(int)> awaited_by;          ///< Of a rank that waits; nobody (-1) of others.
  std::function<bool(int, int)> nothing_sent_yet;  ///< From a rank to another, that this one has not received.
};

/// The circle in which world rank `rank` waits, if it does. Messages from point to point that wait for each other alone
/// are none: nobody said in which call they should meet.
std::optional<CrossedWait> find_crossed_wait(int rank, int world_size, const WaitView& view);

}  // namespace shoal::detail

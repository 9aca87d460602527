#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shoal/runtime/job_segment.h"

namespace shoal::detail {

/// A rank as the launcher sees it from outside. What it wrote into the segment itself is believed by nobody but the
/// reader.
struct RankView {
  bool ended = false;           ///< Its process.
  std::string process_state{};  ///< "running", "sleeping", "stopped", ...; empty if not known.
  RankPhase phase = RankPhase::absent;
  std::optional<LastCall> last_call{};
  int awaits = -1;       ///< The rank that it waits for, in a call or on the way into one; -1: none.
  bool gave_up = false;  ///< It waits no more: an error ended that wait.

  bool in_call() const { return !ended && phase == RankPhase::active && last_call && !last_call->returned; }
  bool waits() const { return awaits >= 0 && (gave_up || (!ended && phase == RankPhase::active)); }
  bool stopped() const { return !ended && process_state == kStopped; }

  static constexpr const char* kStopped = "stopped";
};

/// Who waits for whom, in which call; a line for each rank.
std::vector<std::string> wait_table(const std::vector<RankView>& ranks);

/// Why a job stands still.
struct StallCause {
  int rank = -1;     ///< The one for which the others wait; -1: no single one, they wait for each other.
  std::string text;  ///< "rank 2 is stopped", "the others wait for rank 2, which is in no call".
};
StallCause stall_cause(const std::vector<RankView>& ranks);

}  // namespace shoal::detail

#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "shoal/runtime/job_segment.h"

namespace shoal::detail {

/// Decides which rank failed first, so that its victims are never blamed.
///
/// Victims fail because of the culprit but may well be seen to end before it: a rank that throws ends its session,
/// the others find it gone and exit with 1, and its own exit comes last. The order in which ranks broke the world,
/// which the segment knows, says who was first.
class Verdict {
 public:
  /// Rank `rank` ended so, after those told before. Call it once for each rank. `met_error`: in its last call, or
  /// since; whoever did may be a victim however it ends, be it by a signal of its own.
  void ended(int rank, int wait_status, bool met_error);

  /// `first_error`: what the segment says now.
  /// Who failed first, as far as it can be said: empty when nobody failed, or while awaited() has yet to end.
  std::optional<FirstFailure> decide(const std::optional<FirstFailure>& first_error) const;
  /// The rank whose own end should be waited for (shortly) before deciding; empty when there is none.
  std::optional<int> awaited(const std::optional<FirstFailure>& first_error) const;
  /// As decide(), when awaited() has not ended in time.
  std::optional<FirstFailure> decide_now(const std::optional<FirstFailure>& first_error) const;
  /// Once all ranks have ended: also who left the others waiting although all gave 0, as below a wrapper that
  /// does so whatever happens.
  std::optional<FirstFailure> decide_at_end(const std::optional<FirstFailure>& first_error) const;

 private:
  std::optional<int> first_to_fail() const;
  bool may_be_a_victim(int rank) const;

  std::vector<int> order_;          // Ranks, as they ended.
  std::map<int, int> wait_status_;  // By rank.
  std::set<int> met_error_;         // Ranks.
};

}  // namespace shoal::detail

#include "wait_table.h"

#include <algorithm>
#include <set>

namespace shoal::detail {
namespace {

std::string rank_named(std::size_t rank) { return "rank " + std::to_string(rank); }

std::string doing(const RankView& rank) {
  if (rank.gave_up && rank.waits())
    return "waited for " + rank_named(static_cast<std::size_t>(rank.awaits)) + (rank.ended ? " and has ended" : "");
  if (rank.ended) return "has ended";
  if (rank.phase == RankPhase::absent) return "has no session";
  if (rank.phase == RankPhase::left) return "has left its session";
  if (rank.waits()) return "waits for " + rank_named(static_cast<std::size_t>(rank.awaits));
  return rank.in_call() ? "is at work" : "is in no call";
}

// From one that waits to the one that it waits for in the end; empty if that is a circle.
std::optional<std::size_t> end_of_chain(const std::vector<RankView>& ranks, std::size_t first) {
  std::set<std::size_t> seen;
  std::size_t rank = first;
  while (ranks[rank].waits()) {
    if (!seen.insert(rank).second) return std::nullopt;
    rank = static_cast<std::size_t>(ranks[rank].awaits);
    if (rank >= ranks.size()) return std::nullopt;
  }
  return rank;
}

}  // namespace

std::vector<std::string> wait_table(const std::vector<RankView>& ranks) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankView& rank = ranks[i];
    std::string line = rank_named(i) + " " + doing(rank);
    if (!rank.process_state.empty() && !rank.ended) line += " (" + rank.process_state + ")";
    const bool within = rank.in_call() || (rank.last_call && rank.last_call->failed);
    if (rank.last_call) line += (within ? ", in " : ", after ") + describe(*rank.last_call);
    lines.push_back(line);
  }
  return lines;
}

StallCause stall_cause(const std::vector<RankView>& ranks) {
  const auto culprit = [&](std::size_t rank, const std::string& text) {
    return StallCause{.rank = static_cast<int>(rank), .text = text};
  };
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i].stopped()) return culprit(i, rank_named(i) + " is stopped");
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i].waits()) continue;
    if (const auto end = end_of_chain(ranks, i))
      return culprit(*end, "the others wait for " + rank_named(*end) + ", which " + doing(ranks[*end]));
  }
  const bool any_waits = std::ranges::any_of(ranks, &RankView::waits);
  for (std::size_t i = 0; i < ranks.size() && !any_waits; ++i)
    if (ranks[i].in_call()) return culprit(i, rank_named(i) + " is in a call and waits for nobody");
  return {.rank = -1, .text = "ranks wait for each other"};
}

}  // namespace shoal::detail

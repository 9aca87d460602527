#include "call_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "call_book.h"

namespace shoal::detail {

int rank_in(const CallContext& context, int world_rank) {
  if (context.members.empty()) return world_rank;
  const auto found = std::ranges::find(context.members, world_rank);
  return found == context.members.end() ? -1 : static_cast<int>(found - context.members.begin());
}

std::string rank_text(const CallContext& context, int world_rank) {
  if (context.members.empty()) return std::to_string(world_rank);
  const int rank = rank_in(context, world_rank);
  return rank < 0 ? fmt::format("(world rank {})", world_rank) : fmt::format("{} (world rank {})", rank, world_rank);
}

std::string where(const CallContext& context) {
  const Call& call = context.call;
  std::string text = fmt::format("in {} ({}", name(call.operation), name(call.algorithm));
  if (context.step != 0) {
    text += fmt::format(", step {}", context.step);
    if (call.steps != 0) text += fmt::format(" of {}", call.steps);
  }
  return text + ")";
}

Error lost_error(int rank, int lost, int waited_for, const std::string& fate, const CallContext& context) {
  const std::string elsewhere =
      waited_for < 0 || waited_for == lost ? "" : fmt::format(", waiting for peer {}", rank_text(context, waited_for));
  return {ErrorCode::peer_lost,
          fmt::format("rank {}: peer {} lost {}{}: {}", rank_text(context, rank), rank_text(context, lost),
                      where(context), elsewhere, fate),
          rank_in(context, lost)};
}

Error job_ended_error(int rank, const std::string& why, const CallContext& context) {
  return {ErrorCode::peer_lost,
          fmt::format("rank {}: job ended {}: {}", rank_text(context, rank), where(context), why)};
}

Error left_error(int rank, int peer, const CallContext& context) {
  return lost_error(rank, peer, peer, "it left", context);
}

Error timeout_error(int rank, int waited_for, const CallContext& context) {
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(context.waited);
  return {ErrorCode::timeout,
          fmt::format("rank {}: timeout after {} ms {}: waiting for peer {}", rank_text(context, rank), waited.count(),
                      where(context), rank_text(context, waited_for)),
          rank_in(context, waited_for)};
}

Error size_error(int rank, int peer, std::uint64_t sent_bytes, std::size_t expected_bytes, const CallContext& context) {
  return {ErrorCode::mismatch,
          fmt::format("rank {}: mismatch {}: peer {} sent {} bytes where {} were expected", rank_text(context, rank),
                      where(context), rank_text(context, peer), sent_bytes, expected_bytes),
          rank_in(context, peer)};
}

Error mismatch_error(int rank, int peer, const std::optional<Call>& theirs, const CallContext& context) {
  return {ErrorCode::mismatch,
          fmt::format("rank {}: mismatch: this rank is in {}, peer {} in {}", rank_text(context, rank),
                      describe(context.call), rank_text(context, peer), theirs ? describe(*theirs) : "another call"),
          rank_in(context, peer)};
}

Error mismatch_error(int rank, const CallMismatch& mismatch, const CallContext& context) {
  CallContext met = context;
  met.call = mismatch.ours.call;
  return mismatch_error(rank, mismatch.peer, mismatch.theirs, met);
}

Error unread_error(int rank, int sender, int receiver, const std::optional<Call>& call, const CallContext& context) {
  return {ErrorCode::mismatch,
          fmt::format("rank {}: mismatch: rank {} left without receiving what rank {} had sent it in {}",
                      rank_text(context, rank), rank_text(context, receiver), rank_text(context, sender),
                      call ? describe(*call) : "some call"),
          rank == sender ? receiver : sender};
}

Error foreign_message_error(int rank, const RankState& own, int peer, const RankState& theirs,
                            std::uint64_t fingerprint, const CallContext& context) {
  const auto first = find_first_mismatch(own, peer, theirs, context.communicator);
  if (!first) return mismatch_error(rank, peer, find_call(theirs, fingerprint), context);
  return mismatch_error(rank, *first, context);
}

Error broken_error(int rank, const FirstError& error, bool first, const CallContext& context) {
  if (first && (error.code == ErrorCode::mismatch || error.code == ErrorCode::peer_lost))
    return {error.code, fmt::format("rank {}: told {}: {}", rank_text(context, rank), where(context), error.text),
            rank_in(context, error.peer == rank ? error.rank : error.peer)};
  return {ErrorCode::broken,
          fmt::format("rank {}: {}: the communicator is broken: {}", rank_text(context, rank), describe(context.call),
                      error.text),
          rank_in(context, error.rank)};
}

}  // namespace shoal::detail

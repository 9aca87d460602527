#include "call_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "crossed_wait.h"
#include "fingerprint.h"

namespace shoal::detail {
namespace {

/// "call 4, all_reduce (ring, f32 sum, count 10)"; point-to-point calls are not counted: "send (auto, f32, count 3)".
std::string call_text(const Call& call, std::uint64_t sequence) {
  return sequence == 0 ? describe(call) : fmt::format("call {}, {}", sequence, describe(call));
}

/// "is in call 4, all_reduce (ring, f32 sum, count 10)".
std::string doing_text(const RecordedCall& recorded) {
  return fmt::format("{} in {}", recorded.returned ? "was" : "is", call_text(recorded.call, recorded.sequence));
}

/// Of a call that is not on record any more: "broadcast (binomial, f32, root 0), from which 40 bytes came".
std::string off_record_text(const Arrived& arrived) {
  Call call = call_in(arrived.fingerprint);
  if (call.operation == Operation::send && arrived.bytes) {
    call.count = elements_in(*arrived.bytes, call.type);
    return "a call no longer on record, send or exchange" + describe(call).substr(name(call.operation).size());
  }
  std::string text = describe(call);
  if (const auto count = text.find(", count 0"); count != std::string::npos) text.erase(count, 9);  // Not known.
  return "a call no longer on record, " + text +
         (arrived.bytes ? fmt::format(", from which {} bytes came", *arrived.bytes) : std::string());
}

Error mismatch_error(int rank, int peer, const RecordedCall& ours, const std::string& peer_text,
                     const CallContext& context) {
  return {ErrorCode::mismatch,
          fmt::format("rank {}: mismatch: this rank {}, peer {} {}", rank_text(context, rank), doing_text(ours),
                      rank_text(context, peer), peer_text),
          rank_in(context, peer)};
}

RecordedCall own_call(const CallContext& context) { return {.call = context.call, .sequence = context.sequence}; }

}  // namespace

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

Error foreign_place_error(int rank, std::uint64_t place, std::size_t bytes, const CallContext& context) {
  return {ErrorCode::system, fmt::format("rank {} {}: a peer shows {} bytes at {}, outside of the job's memory",
                                         rank_text(context, rank), where(context), bytes, place)};
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

Error size_error(int rank, int peer, const RankState& theirs, std::uint64_t sent_bytes, std::size_t expected_bytes,
                 const CallContext& context) {
  const bool point_to_point = context.sequence == 0;
  std::string peer_call;
  if (point_to_point) {
    const auto sent = find_sent(theirs, context.fingerprint, sent_bytes);
    peer_call = ", in " + (sent ? describe(sent->call) : off_record_text({context.fingerprint, sent_bytes}));
  }
  return {ErrorCode::mismatch,
          fmt::format("rank {}: mismatch {}: peer {} sent {} bytes where {} were expected{}", rank_text(context, rank),
                      point_to_point ? "in " + describe(context.call) : where(context), rank_text(context, peer),
                      sent_bytes, expected_bytes, peer_call),
          rank_in(context, peer)};
}

Error mismatch_error(int rank, const CallMismatch& mismatch, const CallContext& context) {
  return mismatch_error(rank, mismatch.peer, mismatch.ours, doing_text(mismatch.theirs), context);
}

Error crossed_error(int rank, const CrossedWait& circle, const CallContext& context) {
  const bool elsewhere = circle.ours.communicator != circle.theirs.communicator;
  return {ErrorCode::mismatch,
          fmt::format("rank {}: mismatch: this rank waits in {} for peer {}, which waits in {}{} for {}",
                      rank_text(context, rank), call_text(circle.ours.call, circle.ours.sequence),
                      rank_text(context, circle.peer), call_text(circle.theirs.call, circle.theirs.sequence),
                      elsewhere ? " of another communicator" : "",
                      circle.awaited_by_peer == rank ? "this rank"
                                                     : fmt::format("rank {}, and so on, round to this rank",
                                                                   rank_text(context, circle.awaited_by_peer))),
          rank_in(context, circle.peer)};
}

std::optional<Error> unfitting_call_error(int rank, int world_size, const StateOf& state_of, CallContext& context) {
  const auto mismatch = find_any_mismatch(rank, world_size, state_of);
  if (!mismatch) return std::nullopt;
  context.call = mismatch->ours.call;
  context.communicator = mismatch->ours.communicator;
  return mismatch_error(rank, *mismatch, context);
}

Error unread_error(int rank, int sender, int receiver, const RankState& sender_state,
                   const std::optional<Arrived>& message, const CallContext& context) {
  const auto call = message ? find_sent(sender_state, message->fingerprint, message->bytes) : std::nullopt;
  return {ErrorCode::mismatch,
          fmt::format("rank {}: mismatch: rank {} left without receiving what rank {} had sent it in {}",
                      rank_text(context, rank), rank_text(context, receiver), rank_text(context, sender),
                      call      ? call_text(call->call, call->sequence)
                      : message ? off_record_text(*message)
                                : "some call"),
          rank == sender ? receiver : sender};
}

Error foreign_message_error(int rank, const RankState& own, int peer, const RankState& theirs, const Arrived& arrived,
                            const CallContext& context) {
  if (const auto first = find_first_mismatch(own, peer, theirs, context.communicator))
    return mismatch_error(rank, *first, context);
  const auto sent = find_sent(theirs, arrived.fingerprint, arrived.bytes);
  return mismatch_error(rank, peer, own_call(context), sent ? doing_text(*sent) : "was in " + off_record_text(arrived),
                        context);
}

std::optional<Error> left_behind_error(int rank, int peer, const RankState& theirs, const CallContext& context) {
  const auto later = find_later(theirs, context);
  if (!later) return std::nullopt;
  return Error(
      ErrorCode::mismatch,
      fmt::format("rank {}: mismatch: this rank {}, which peer {} has left behind: it {}", rank_text(context, rank),
                  doing_text(own_call(context)), rank_text(context, peer), doing_text(*later)),
      rank_in(context, peer));
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

#include "call_errors.h"

#include <fmt/format.h>

#include <chrono>

namespace shoal::detail {

std::string where(const CallContext& context) {
  const Call& call = context.call;
  std::string text = fmt::format("in {} ({}", name(call.operation), name(call.algorithm));
  if (context.step != 0) {
    text += fmt::format(", step {}", context.step);
    if (call.steps != 0) {
      text += fmt::format(" of {}", call.steps);
    }
  }
  return text + ")";
}

Error lost_error(int rank, int lost, int waited_for, const std::string& fate, const CallContext& context) {
  const std::string elsewhere =
      waited_for < 0 || waited_for == lost ? "" : fmt::format(", waiting for peer {}", waited_for);
  return {ErrorCode::peer_lost,
          fmt::format("rank {}: peer {} lost {}{}: {}", rank, lost, where(context), elsewhere, fate), lost};
}

Error job_ended_error(int rank, const std::string& why, const CallContext& context) {
  return {ErrorCode::peer_lost, fmt::format("rank {}: job ended {}: {}", rank, where(context), why)};
}

Error left_error(int rank, int peer, const CallContext& context) {
  return lost_error(rank, peer, peer, "it left", context);
}

Error timeout_error(int rank, int waited_for, const CallContext& context) {
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(context.waited);
  return {ErrorCode::timeout,
          fmt::format("rank {}: timeout after {} ms {}: waiting for peer {}", rank, waited.count(), where(context),
                      waited_for),
          waited_for};
}

Error mismatch_error(int rank, int peer, bool of_this_call, const std::optional<Call>& theirs, std::uint64_t sent_bytes,
                     std::size_t expected_bytes, const CallContext& context) {
  if (of_this_call) {
    return {ErrorCode::mismatch,
            fmt::format("rank {}: mismatch {}: peer {} sent {} bytes where {} were expected", rank, where(context),
                        peer, sent_bytes, expected_bytes),
            peer};
  }
  return {ErrorCode::mismatch,
          fmt::format("rank {}: mismatch: this rank is in {}, peer {} in {}", rank, describe(context.call), peer,
                      theirs ? describe(*theirs) : "another call"),
          peer};
}

Error broken_error(int rank, const FirstError& error, bool first, const CallContext& context) {
  if (first && (error.code == ErrorCode::mismatch || error.code == ErrorCode::peer_lost)) {
    return {error.code, error.text, error.peer};
  }
  return {ErrorCode::broken,
          fmt::format("rank {}: {}: the communicator is broken: {}", rank, describe(context.call), error.text),
          error.rank};
}

}  // namespace shoal::detail

// What ends a wait is looked for at every yield, every sleep and every few hundred polls. Looks that cost more (the
// peers' calls, whether a process exists) are made every 50 ms.

#include "shm_waiting.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "process_namespace.h"
#include "shared_text.h"

namespace shoal::detail {

ShmWaiting::ShmWaiting(const JobSegment::Mapping& mapping, int rank)
    : mapping_(mapping),
      rank_(rank),
      size_(static_cast<int>(mapping.geometry.ranks)),
      policy_(WaitPolicy::for_ranks(mapping.geometry.ranks, mapping.header().cores)),
      self_(mapping.rank(rank)) {}

WaitPolicy ShmWaiting::policy_for(const CallContext& context) const {
  WaitPolicy policy = policy_;
  if (context.timeout.count() > 0) {  // Do not sleep past the deadline.
    policy.longest_sleep = std::clamp<std::chrono::nanoseconds>(context.timeout - context.waited,
                                                                std::chrono::milliseconds(1), policy.longest_sleep);
  }
  return policy;
}

std::optional<ShmWaiting::End> ShmWaiting::find_end(const Awaited& awaited, CallContext& context,
                                                    std::chrono::nanoseconds elapsed) const {
  context.waited += elapsed;
  // A mismatch first: the ranks that have it already may have ended the job meanwhile.
  if (is_broken(context) && (!job_aborted() || broken_by_mismatch(context))) return End{Cause::broken};
  if (job_aborted()) return End{Cause::aborted};
  for (const int peer : {awaited.from, awaited.to}) {
    if (peer < 0 || !has_left(peer)) continue;
    compare_calls(
        context);  // It may have left because it took this call for another, in which it had nobody to wait for.
    return End{Cause::left, peer};
  }
  if (context.timeout.count() > 0 && context.waited > context.timeout) return End{Cause::late};

  constexpr std::chrono::milliseconds kInterval{50};
  if (context.waited - context.compared < kInterval) return std::nullopt;
  context.compared = context.waited;
  compare_calls(context);
  for (const int peer : {awaited.from, awaited.to})
    if (peer >= 0 && owner_is_gone(peer)) return End{Cause::gone, peer};
  return std::nullopt;
}

void ShmWaiting::throw_end(End end, const Awaited& awaited, CallContext& context) const {
  switch (end.cause) {
    case Cause::gone:
      throw lost_error(rank_, end.peer, end.peer, "its process is gone", context);
    case Cause::aborted:
      throw_aborted(awaited, context);
    case Cause::broken:
      throw_broken(context);
    case Cause::left:
      throw left_error(rank_, end.peer, context);
    case Cause::late:
      break;
  }
  throw timeout_error(rank_, awaited.from >= 0 ? awaited.from : awaited.to, context);
}

void ShmWaiting::throw_aborted(const Awaited& awaited, const CallContext& context) const {
  const JobState& job = mapping_.job();
  if (job.rank < 0 || job.rank >= size_) {
    throw job_ended_error(rank_, text_of(job.text), context);
  }
  throw lost_error(rank_, job.rank, awaited.from >= 0 ? awaited.from : awaited.to,
                   fate(static_cast<FailureKind>(job.kind), job.code), context);
}

bool ShmWaiting::is_broken(const CallContext& context) const { return is_set(state_of(context).broken); }

bool ShmWaiting::broken_by_mismatch(const CallContext& context) const {
  return state_of(context).code == static_cast<std::uint32_t>(ErrorCode::mismatch);
}

void ShmWaiting::throw_broken(CallContext& context) const {
  const CommunicatorState& state = state_of(context);
  const bool first = !std::exchange(context.heard, true);
  // Others heard of the lost peer while this rank was elsewhere.
  if (first && job_aborted() && !broken_by_mismatch(context)) throw_aborted({}, context);
  throw broken_error(
      rank_,
      {.code = static_cast<ErrorCode>(state.code), .rank = state.rank, .peer = state.peer, .text = text_of(state.text)},
      first, context);
}

// Ranks in calls that exchange no message would wait for each other for ever: two gathers with different roots, say.
void ShmWaiting::compare_calls(const CallContext& context) const {
  const auto mismatch = find_mismatch(rank_, size_, context, states());
  if (mismatch) throw mismatch_error(rank_, *mismatch, context);
}

// The launcher sees a rank's process end; it does not see one that a rank's wrapper outlives.
bool ShmWaiting::owner_is_gone(int peer) const {
  const RankState& state = mapping_.rank(peer);
  const std::int32_t owner = state.owner.load(std::memory_order_acquire);
  return owner > 0 && state.owner_namespace.load(std::memory_order_relaxed) == process_namespace() &&
         kill(owner, 0) != 0 && errno == ESRCH;
}

CommunicatorState& ShmWaiting::state_of(const CallContext& context) const {
  return mapping_.communicator(slot_of(context.communicator));
}

StateOf ShmWaiting::states() const {
  return [this](int rank) -> const RankState& { return mapping_.rank(rank); };
}

bool ShmWaiting::job_aborted() const { return is_set(mapping_.job().aborted); }

bool ShmWaiting::has_left(int peer) const {
  // Pairs with the release when it leaves: what it had sent is visible to the last look at the channel.
  return mapping_.rank(peer).phase.load(std::memory_order_seq_cst) == static_cast<std::uint32_t>(RankPhase::left);
}

}  // namespace shoal::detail

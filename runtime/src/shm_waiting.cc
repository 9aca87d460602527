// What ends a wait is looked for at every yield, every sleep and every few hundred polls. Looks that cost more (the
// peers' calls, whether a process exists) are made every 50 ms.

#include "shm_waiting.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "crossed_wait.h"
#include "process_namespace.h"
#include "shared_text.h"

namespace shoal::detail {

ShmWaiting::ShmWaiting(const JobSegment::Mapping& mapping, int rank)
    : mapping_(mapping),
      rank_(rank),
      size_(static_cast<int>(mapping.geometry.ranks)),
      policy_(WaitPolicy::for_ranks(mapping.geometry.ranks, mapping.header().cores)),
      barrier_(register_waker()),
      self_(mapping.rank(rank)) {}

WaitPolicy ShmWaiting::policy_for(const CallContext& context) const {
  WaitPolicy policy = policy_;
  if (context.timeout.count() > 0) {  // Do not sleep past the deadline.
    policy.longest_sleep = std::clamp<std::chrono::nanoseconds>(context.timeout - context.waited,
                                                                std::chrono::milliseconds(1), policy.longest_sleep);
  }
  return policy;
}

// What others, or the launcher, have written down. Who leaves has written before what it had met: so whether anybody
// has left is looked at first.
std::optional<ShmWaiting::End> ShmWaiting::find_told(const Awaited& awaited, const CallContext& context) const {
  const auto left = [this](int peer) { return peer >= 0 && has_left(peer) ? peer : -1; };
  const int gone = std::max(left(awaited.from), left(awaited.to));
  const bool aborted = job_aborted();  // Before the other as well: a rank's error is written before the job ends by it.
  // A mismatch first: the ranks that have it already may have ended the job meanwhile.
  if (is_broken(context) && (!aborted || broken_by_mismatch(context))) return End{Cause::broken};
  if (aborted) return End{Cause::aborted};
  if (gone < 0) return std::nullopt;
  // It may have left because it took this call for another, in which it had nobody to wait for.
  compare_calls(context);
  return End{find_later(mapping_.rank(gone), context) ? Cause::left_behind : Cause::left, gone};
}

std::optional<ShmWaiting::End> ShmWaiting::find_end(const Awaited& awaited, CallContext& context,
                                                    std::chrono::nanoseconds elapsed) const {
  context.waited += elapsed;
  if (const auto told = find_told(awaited, context)) return told;
  if (context.timeout.count() > 0 && context.waited > context.timeout) return End{Cause::late};

  constexpr std::chrono::milliseconds kInterval{50};
  if (context.waited - context.compared < kInterval) return std::nullopt;
  context.compared = context.waited;
  compare_calls(context);
  look_for_circles(awaited, context);
  // Who is gone by now may have told why, or left, since the look above.
  if (const int gone = find_gone(awaited, context); gone >= 0)
    return find_told(awaited, context).value_or(End{Cause::gone, gone});
  for (const int peer : {awaited.from, awaited.to})
    if (peer >= 0 && find_later(mapping_.rank(peer), context)) return End{Cause::left_behind, peer};
  return std::nullopt;
}

void ShmWaiting::throw_end(End end, const Awaited& awaited, CallContext& context) const {
  const int waited_for = awaited.from >= 0 ? awaited.from : awaited.to;
  // For who asks later why the job ended: this rank may well be gone by then.
  note_gave_up(self_, waited_for);
  switch (end.cause) {
    case Cause::gone:
      throw lost_error(rank_, end.peer, end.peer == awaited.to ? end.peer : waited_for, "its process is gone", context);
    case Cause::aborted:
      throw_aborted(awaited, context);
    case Cause::broken:
      throw_broken(context);
    case Cause::left_behind:
      if (const auto error = left_behind_error(rank_, end.peer, mapping_.rank(end.peer), context)) throw Error(*error);
      throw left_error(rank_, end.peer, context);
    case Cause::left:
      throw left_error(rank_, end.peer, context);
    case Cause::late:
      break;
  }
  throw timeout_error(rank_, waited_for, context);
}

void ShmWaiting::throw_aborted(const Awaited& awaited, const CallContext& context) const {
  const JobState& job = mapping_.job();
  if (job.rank < 0 || job.rank >= size_) {
    throw job_ended_error(rank_, text_of(job.text), context);
  }
  // Who met it may have left while another, that met it too, was still writing it into the communicator.
  if (static_cast<FailureKind>(job.kind) == FailureKind::mismatch)
    throw broken_error(rank_, {ErrorCode::mismatch, job.rank, job.rank, text_of(job.text)}, true, context);
  throw lost_error(rank_, job.rank, awaited.from >= 0 ? awaited.from : awaited.to,
                   fate(static_cast<FailureKind>(job.kind), job.code), context);
}

void ShmWaiting::wake_others(const CallContext& context) const noexcept {
  order_before_wake(barrier_);
  const int members = member_count(context, size_);
  for (int member = 0; member < members; ++member) {
    const int peer = world_rank(context, member);
    if (peer != rank_) wake(mapping_.rank(peer));
  }
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

// Ranks whose calls meet nowhere: on two communicators, or one from point to point. All that are in the circle are
// told.
void ShmWaiting::look_for_circles(const Awaited& awaited, const CallContext& context) const {
  constexpr std::uint64_t kRoom = std::uint64_t{1} << 32;
  const bool receives = awaited.from >= 0;
  // Pairs with the acquire below: who sees for whom this rank waits sees in which call.
  self_.awaits.store(static_cast<std::uint64_t>(receives ? awaited.from : awaited.to) + 1 + (receives ? 0 : kRoom),
                     std::memory_order_release);
  const WaitView view{
      .state_of = states(),
      .awaited_by =
          [this](int rank) {
            const std::uint64_t awaits = mapping_.rank(rank).awaits.load(std::memory_order_acquire);
            const std::uint64_t peer = awaits & (kRoom - 1);
            if (peer == 0 || peer > static_cast<std::uint64_t>(size_)) return Awaited{};
            const int number = static_cast<int>(peer) - 1;
            return awaits < kRoom ? Awaited{.from = number} : Awaited{.to = number};
          },
      .nothing_sent_yet = [this](int from, int to) { return mapping_.channel(from, to).all_messages_taken(); }};
  const auto circle = find_crossed_wait(rank_, size_, view);
  if (!circle) return;
  const Error error = crossed_error(rank_, *circle, context);
  for (const std::uint64_t communicator : circle->communicators) tell(communicator, circle->peer, error);
  throw Error(error);
}

void ShmWaiting::refuse_foreign(int peer, const Arrived& arrived, const CallContext& context) const {
  const Error error = foreign_message_error(rank_, mapping_.rank(rank_), peer, mapping_.rank(peer), arrived, context);
  const auto sent = find_sent(mapping_.rank(peer), arrived.fingerprint, arrived.bytes);
  if (sent && sent->communicator != context.communicator) tell(sent->communicator, peer, error);
  throw Error(error);
}

// Breaks a communicator, which need not be this rank's, unless its slot has been given to another.
void ShmWaiting::tell(std::uint64_t communicator, int peer, const Error& error) const noexcept {
  CommunicatorState& state = mapping_.communicator(slot_of(communicator));
  if (state.generation.load(std::memory_order_relaxed) != communicator >> 32) return;
  record_error(mapping_.communicator(kAnyCommunicator), peer, error);
  if (record_error(state, peer, error)) mapping_.wake_all();
}

bool ShmWaiting::record_error(CommunicatorState& state, int peer, const Error& error) const noexcept {
  auto found = static_cast<std::uint32_t>(Once::unset);
  // Once more for each rank that was killed while it wrote: what it left is written over.
  while (!state.broken.compare_exchange_strong(found, being_written_by(rank_), std::memory_order_relaxed))
    if (dead_writer(found) < 0) return false;
  state.code = static_cast<std::uint32_t>(error.code());
  state.rank = rank_;
  state.peer = peer;
  copy_text(state.text, error.what());
  // Pairs with the acquire in is_set; sequentially consistent, so that it precedes the look at `sleeping`.
  state.broken.store(static_cast<std::uint32_t>(Once::set), std::memory_order_seq_cst);
  return true;
}

// The launcher sees a rank's process end; it does not see one that a rank's wrapper outlives.
bool ShmWaiting::owner_is_gone(int peer) const {
  const RankState& state = mapping_.rank(peer);
  const std::int32_t owner = state.owner.load(std::memory_order_acquire);
  return owner > 0 && state.owner_namespace.load(std::memory_order_relaxed) == process_namespace() &&
         kill(owner, 0) != 0 && errno == ESRCH;
}

int ShmWaiting::find_gone(const Awaited& awaited, const CallContext& context) const {
  for (const int peer : {awaited.from, awaited.to})
    if (peer >= 0 && owner_is_gone(peer)) return peer;
  // Who died while it wrote what it had met told nobody, and need not be whom this rank waits for.
  return dead_writer(state_of(context).broken.load(std::memory_order_relaxed));
}

int ShmWaiting::dead_writer(std::uint32_t broken) const {
  const int writer = writer_in(broken);
  return writer >= 0 && writer < size_ && writer != rank_ && owner_is_gone(writer) ? writer : -1;
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

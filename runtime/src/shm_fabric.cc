#include "shm_fabric.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "call_errors.h"
#include "process_namespace.h"
#include "shared_text.h"

namespace shoal::detail {
namespace {

bool is_set(const std::atomic<std::uint32_t>& once) {
  // Pairs with the store of Once::set: the fields beside it are complete.
  return once.load(std::memory_order_acquire) == static_cast<std::uint32_t>(Once::set);
}

std::uint32_t slot_of(std::uint64_t communicator) { return static_cast<std::uint32_t>(communicator); }

// Whether this error is the first.
bool record_error(CommunicatorState& state, int rank, int peer, const Error& error) noexcept {
  auto expected = static_cast<std::uint32_t>(Once::unset);
  if (!state.broken.compare_exchange_strong(expected, static_cast<std::uint32_t>(Once::being_written),
                                            std::memory_order_relaxed))
    return false;
  state.code = static_cast<std::uint32_t>(error.code());
  state.rank = rank;
  state.peer = peer;
  copy_text(state.text, error.what());
  // Pairs with the acquire in is_set; sequentially consistent, so that it precedes the look at `sleeping`.
  state.broken.store(static_cast<std::uint32_t>(Once::set), std::memory_order_seq_cst);
  return true;
}

}  // namespace

// The receiving half of a transfer: opens the message, checks what it is, and takes its pieces as they come.
class ShmFabric::Incoming {
 public:
  Incoming(ChannelReader& reader, const Transfer& transfer) : reader_(reader), transfer_(transfer) {}

  bool done() const { return opened_ && reader_.done(); }
  const std::optional<MessageHeader>& refused() const { return refused_; }

  /// True if anything was taken, or a message is there that is not the one expected (refused()).
  bool advance(std::uint64_t fingerprint) {
    if (!opened_) {
      const auto header = reader_.open();
      if (!header) {
        return false;
      }
      opened_ = true;
      if (header->fingerprint != fingerprint || !transfer_.takes(header->bytes)) {
        refused_ = header;
        return true;
      }
      if (transfer_.arrived != nullptr) {
        *transfer_.arrived = header->bytes;
      }
      take();
      return true;
    }
    return take();
  }

 private:
  bool take() {
    const auto piece = reader_.piece();
    if (piece.empty()) {
      return false;
    }
    if (transfer_.fold != nullptr) {
      transfer_.fold->function(transfer_.in.data() + taken_, piece.data(), piece.size());
    } else {
      std::memcpy(transfer_.in.data() + taken_, piece.data(), piece.size());
    }
    taken_ += piece.size();
    reader_.consume(piece.size());
    return true;
  }

  ChannelReader& reader_;
  const Transfer& transfer_;
  std::size_t taken_ = 0;
  bool opened_ = false;
  std::optional<MessageHeader> refused_;
};

ShmFabric::ShmFabric(JobSegment segment, int rank)
    : segment_(std::move(segment)),
      rank_(rank),
      size_(segment_.ranks()),
      policy_(WaitPolicy::for_ranks(static_cast<std::uint32_t>(size_), segment_.mapping().header().cores)),
      self_(segment_.mapping().rank(rank)),
      book_(self_, segment_.mapping().ledger(rank)) {
  const auto& mapping = segment_.mapping();
  writers_.reserve(static_cast<std::size_t>(size_));
  readers_.reserve(static_cast<std::size_t>(size_));
  for (int peer = 0; peer < size_; ++peer) {
    writers_.emplace_back(mapping.channel(rank, peer), mapping.ring(rank, peer));
    readers_.emplace_back(mapping.channel(peer, rank), mapping.ring(peer, rank));
  }
}

void ShmFabric::begin(CallContext& context) {
  if (is_set(state_of(context).broken)) {
    if (job_aborted() && !context.heard) {  // Others heard of the lost peer while this rank was elsewhere.
      context.heard = true;
      throw_aborted({}, context);
    }
    throw_broken(context);
  }
  book_.begin(context);
}

void ShmFabric::end(const CallContext&) noexcept { book_.end(); }

void ShmFabric::transfer(const Transfer& transfer, CallContext& context) {
  ChannelWriter* writer = transfer.to >= 0 ? &writers_[static_cast<std::size_t>(transfer.to)] : nullptr;
  std::optional<Incoming> incoming;
  if (transfer.from >= 0) {
    incoming.emplace(readers_[static_cast<std::size_t>(transfer.from)], transfer);
  }
  if (writer != nullptr) {
    writer->open({.fingerprint = context.fingerprint, .bytes = transfer.out.size()}, transfer.out.data());
  }
  Transfer pending = transfer;  // Directions that are done are taken out, so that errors name who is waited for.
  const auto advance = [&] {
    bool moved = false;
    if (writer != nullptr && pending.to >= 0 && writer->advance()) {
      moved = true;
      wake_peer(pending.to);
      if (writer->done()) {
        book_.charge_sent(transfer.out.size());
        pending.to = -1;
      }
    }
    if (pending.from >= 0 && incoming->advance(context.fingerprint)) {
      moved = true;
      if (incoming->refused()) {
        const MessageHeader& theirs = *incoming->refused();
        if (theirs.fingerprint == context.fingerprint)
          throw size_error(rank_, transfer.from, segment_.mapping().rank(transfer.from), theirs.bytes,
                           transfer.in.size(), context);
        throw foreign_message_error(rank_, segment_.mapping().rank(rank_), transfer.from,
                                    segment_.mapping().rank(transfer.from), theirs.fingerprint, context, theirs.bytes);
      }
      wake_peer(pending.from);
      if (incoming->done()) {
        book_.charge_received(transfer.received());
        pending.from = -1;
      }
    }
    return moved;
  };
  while (pending.to >= 0 || pending.from >= 0) {
    if (!advance()) {
      wait_until(self_, policy_for(context), advance,
                 [&](std::chrono::nanoseconds elapsed) { return check(pending, context, elapsed, advance); });
    }
  }
}

WaitPolicy ShmFabric::policy_for(const CallContext& context) const {
  WaitPolicy policy = policy_;
  if (context.timeout.count() > 0) {  // Do not sleep past the deadline.
    policy.longest_sleep = std::clamp<std::chrono::nanoseconds>(context.timeout - context.waited,
                                                                std::chrono::milliseconds(1), policy.longest_sleep);
  }
  return policy;
}

template <class Ready>
bool ShmFabric::check(const Transfer& pending, CallContext& context, std::chrono::nanoseconds elapsed, Ready&& ready) {
  context.waited += elapsed;
  const bool aborted = job_aborted();
  const bool broken = is_set(state_of(context).broken);
  const bool late = context.timeout.count() > 0 && context.waited > context.timeout;
  int left = -1;
  for (const int peer : {pending.from, pending.to}) {
    if (peer >= 0 && has_left(peer)) {
      left = peer;
    }
  }
  int gone = -1;
  if (!aborted && !broken && !late && left < 0) {
    constexpr std::chrono::milliseconds kInterval{50};
    if (context.waited - context.compared < kInterval) return false;
    context.compared = context.waited;
    compare_calls(context);
    for (const int peer : {pending.from, pending.to})
      if (peer >= 0 && owner_is_gone(peer)) gone = peer;
    if (gone < 0) return false;
  }
  if (ready()) {
    return true;
  }
  if (gone >= 0) {
    throw lost_error(rank_, gone, gone, "its process is gone", context);
  }
  if (aborted) {
    throw_aborted(pending, context);
  }
  if (broken) {
    throw_broken(context);
  }
  if (left >= 0) {
    throw left_error(rank_, left, context);
  }
  throw timeout_error(rank_, pending.from >= 0 ? pending.from : pending.to, context);
}

void ShmFabric::throw_aborted(const Transfer& pending, const CallContext& context) const {
  const JobState& job = segment_.mapping().job();
  if (job.rank < 0 || job.rank >= size_) {
    throw job_ended_error(rank_, text_of(job.text), context);
  }
  throw lost_error(rank_, job.rank, pending.from >= 0 ? pending.from : pending.to,
                   fate(static_cast<FailureKind>(job.kind), job.code), context);
}

void ShmFabric::throw_broken(CallContext& context) const {
  const CommunicatorState& state = state_of(context);
  const bool first = !std::exchange(context.heard, true);
  throw broken_error(
      rank_,
      {.code = static_cast<ErrorCode>(state.code), .rank = state.rank, .peer = state.peer, .text = text_of(state.text)},
      first, context);
}

// Ranks in calls that exchange no message would wait for each other for ever: two gathers with different roots, say.
void ShmFabric::compare_calls(const CallContext& context) const {
  const auto mismatch = find_mismatch(rank_, size_, context, states());
  if (mismatch) throw mismatch_error(rank_, mismatch->peer, mismatch->theirs, context);
}

// The launcher sees a rank's process end; it does not see one that a rank's wrapper outlives.
bool ShmFabric::owner_is_gone(int peer) const {
  const RankState& state = segment_.mapping().rank(peer);
  const std::int32_t owner = state.owner.load(std::memory_order_acquire);
  return owner > 0 && state.owner_namespace.load(std::memory_order_relaxed) == process_namespace() &&
         kill(owner, 0) != 0 && errno == ESRCH;
}

void ShmFabric::leave() {
  const bool any_error = is_set(segment_.mapping().communicator(kAnyCommunicator).broken) || job_aborted();
  CallContext context;
  std::optional<Error> error;
  if (!any_error) error = unfitting_call_error(rank_, size_, states(), context);
  // All that this rank sent is published before; whoever sees it gone looks at its channel once more. And of a sender
  // and a receiver that leaves without its message one sees the other: both stores and looks are sequentially
  // consistent, here left then head, there head then left.
  segment_.rank_ended(rank_);
  if (!error && !any_error) error = find_unread(context);
  if (!error) return;
  mark_broken(context, *error);
  throw Error(*error);
}

std::optional<Error> ShmFabric::find_unread(const CallContext& context) {
  for (int peer = 0; peer < size_; ++peer) {
    const auto index = static_cast<std::size_t>(peer);
    if (peer == rank_ || !has_left(peer)) continue;  // Who is still there, and waits, finds this rank left.
    if (const auto unread = readers_[index].open())
      return unread_error(rank_, peer, rank_,
                          find_sent(segment_.mapping().rank(peer), unread->fingerprint, unread->bytes), context);
    if (!writers_[index].all_taken()) return unread_error(rank_, rank_, peer, std::nullopt, context);
  }
  return std::nullopt;
}

std::uint64_t ShmFabric::open_communicator(int members) {
  for (std::uint32_t slot = 1; slot < kCommunicators; ++slot) {
    CommunicatorState& state = segment_.mapping().communicator(slot);
    std::uint32_t handles = 0;
    // Acquire: pairs with the release of the last member that closed it, whose looks at the slot come before.
    if (!state.handles.compare_exchange_strong(handles, static_cast<std::uint32_t>(members), std::memory_order_acq_rel))
      continue;
    // Ours alone until the others hear of it, by a message.
    state.broken.store(static_cast<std::uint32_t>(Once::unset), std::memory_order_relaxed);
    const std::uint32_t generation = state.generation.load(std::memory_order_relaxed) + 1;
    state.generation.store(generation, std::memory_order_relaxed);
    return slot | static_cast<std::uint64_t>(generation) << 32;
  }
  throw Error(ErrorCode::system, "rank " + std::to_string(rank_) + ": split: " + std::to_string(kCommunicators - 1) +
                                     " communicators are open already, no job can have more at once");
}

void ShmFabric::close_communicator(std::uint64_t communicator) noexcept {
  // Release: whatever this member did with the slot comes before it is taken again.
  segment_.mapping().communicator(slot_of(communicator)).handles.fetch_sub(1, std::memory_order_acq_rel);
}

CommunicatorState& ShmFabric::state_of(const CallContext& context) const {
  return segment_.mapping().communicator(slot_of(context.communicator));
}

StateOf ShmFabric::states() const {
  return [this](int rank) -> const RankState& { return segment_.mapping().rank(rank); };
}

bool ShmFabric::job_aborted() const { return is_set(segment_.mapping().job().aborted); }

bool ShmFabric::has_left(int peer) const {
  // Pairs with the release when it leaves: what it had sent is visible to the last look at the channel.
  return segment_.mapping().rank(peer).phase.load(std::memory_order_seq_cst) ==
         static_cast<std::uint32_t>(RankPhase::left);
}

void ShmFabric::mark_broken(CallContext& context, const Error& error) noexcept {
  context.heard = true;
  bool first = false;
  for (CommunicatorState* state : {&state_of(context), &segment_.mapping().communicator(kAnyCommunicator)})
    first = record_error(*state, rank_, world_rank(context, error.peer()), error) || first;
  if (first) segment_.mapping().wake_all();
}

Traffic ShmFabric::traffic() const { return read_ledger(segment_.mapping().ledger(rank_)); }

}  // namespace shoal::detail

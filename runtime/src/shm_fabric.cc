#include "shm_fabric.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

#include "call_errors.h"
#include "shoal/runtime/copy_blocks.h"

namespace shoal::detail {
namespace {

/// From here on a message may stay where it is: in memory that all reach, where ranks have cores of their own and where
/// they share them; and in a rank's own, at the price of a system call. Ranks that share a core find the ring in its
/// caches.
constexpr std::size_t kLeastStaying = std::size_t{2} << 10;
constexpr std::size_t kLeastStayingOnSharedCores = std::size_t{64} << 10;
constexpr std::size_t kLeastByKernel = std::size_t{32} << 10;

}  // namespace

// The receiving half of a transfer: opens the message, checks what it is, and takes its pieces as they come.
class ShmFabric::Incoming {
 public:
  Incoming(ChannelReader& reader, const Transfer& transfer, ShmWindow& window, const ShmWaiting& waiting)
      : reader_(reader), transfer_(transfer), window_(window), waiting_(waiting) {}

  bool done() const { return opened_ && reader_.done(); }
  const std::optional<MessageHeader>& refused() const { return refused_; }

  /// True if anything was taken, or a message is there that is not the one expected (refused()).
  bool advance(CallContext& context) {
    if (!opened_) {
      const auto header = reader_.open();
      if (!header) {
        return false;
      }
      opened_ = true;
      if (header->fingerprint != context.fingerprint || !transfer_.takes(header->bytes)) {
        refused_ = header;
        return true;
      }
      if (transfer_.arrived != nullptr) {
        *transfer_.arrived = header->bytes;
      }
      if (reader_.place() == 0) reader_.withdraw();
      take_some(context);
      return true;
    }
    return take_some(context);
  }

 private:
  bool take_some(CallContext& context) { return reader_.place() != 0 ? take_in_place(context) : take(); }

  bool take() {
    const auto piece = reader_.piece();
    if (piece.empty()) {
      return false;
    }
    put(piece);
    reader_.consume(piece.size());
    return true;
  }

  bool take_in_place(CallContext& context) {
    const Mover mover = reader_.settle();
    if (mover == Mover::claimed) return false;
    if (mover == Mover::recalled) return take();
    if (mover == Mover::taken) copy_from_place(reader_.place(), context);
    // A sender that gave up meanwhile may have used its memory again, but has broken the communicator before: whoever
    // read what it wrote then sees that. Pairs with the store of `broken`.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (waiting_.is_broken(context)) waiting_.throw_broken(context);
    reader_.consume_in_place();
    return true;
  }

  void copy_from_place(Place place, CallContext& context) {
    const std::size_t bytes = transfer_.received();
    if (!in_own_memory(place)) {
      put(window_.reach(place, bytes, context));
    } else if (transfer_.fold == nullptr) {
      window_.copy_from(transfer_.from, place, transfer_.in.first(bytes), context);
    } else {
      fold_copies(place, bytes, context);
    }
  }

  void fold_copies(Place place, std::size_t bytes, CallContext& context) {
    constexpr std::size_t kMost = std::size_t{64} << 10;  // In cache from the copy to the sum.
    const auto copy = std::make_unique_for_overwrite<std::byte[]>(std::min(bytes, kMost));
    for (std::size_t done = 0; done < bytes; done += kMost) {
      const std::span piece(copy.get(), std::min(kMost, bytes - done));
      window_.copy_from(transfer_.from, place + done, piece, context);
      put(piece);
    }
  }

  void put(std::span<const std::byte> piece) {
    if (transfer_.fold != nullptr) {
      transfer_.fold->function(transfer_.in.data() + taken_, piece.data(), piece.size());
    } else {
      copy_blocks(transfer_.in.subspan(taken_), piece);
    }
    taken_ += piece.size();
  }

  ChannelReader& reader_;
  const Transfer& transfer_;
  ShmWindow& window_;
  const ShmWaiting& waiting_;
  std::size_t taken_ = 0;
  bool opened_ = false;
  std::optional<MessageHeader> refused_;
};

ShmFabric::ShmFabric(JobSegment segment, int rank)
    : segment_(std::move(segment)),
      rank_(rank),
      size_(segment_.ranks()),
      book_(segment_.mapping().rank(rank), segment_.mapping().ledger(rank)),
      fault_(Fault::of_rank(rank, size_)),
      waiting_(segment_.mapping(), rank),
      window_(segment_.mapping(), rank, waiting_, book_),
      calibration_(segment_.mapping(), rank, waiting_),
      explanations_(Explanations::of_environment()),
      least_staying_(window_.ranks_share_cores() ? kLeastStayingOnSharedCores : kLeastStaying) {
  announced_.resize(static_cast<std::size_t>(size_));
  const auto& mapping = segment_.mapping();
  writers_.reserve(static_cast<std::size_t>(size_));
  readers_.reserve(static_cast<std::size_t>(size_));
  for (int peer = 0; peer < size_; ++peer) {
    writers_.emplace_back(mapping.channel(rank, peer));
    readers_.emplace_back(mapping.channel(peer, rank));
  }
}

void ShmFabric::begin(CallContext& context) {
  if (waiting_.is_broken(context)) {
    heard_ = true;
    waiting_.throw_broken(context);
  }
  calibration_.provide();
  if (explanations_ && rank_ == 0 && size_ > 1 && !explanations_->calibration_told())
    explanations_->tell_calibration(calibration_.description());
  book_.begin(context);
  if (fault_) fault_->strike(context.call.operation);  // On record before: it is to be told where.
}

void ShmFabric::end(const CallContext&) noexcept { book_.end(); }

void ShmFabric::transfer(const Transfer& transfer, CallContext& context) {
  ChannelWriter* writer = transfer.to >= 0 ? &writers_[static_cast<std::size_t>(transfer.to)] : nullptr;
  std::optional<Incoming> incoming;
  if (transfer.from >= 0) {
    incoming.emplace(readers_[static_cast<std::size_t>(transfer.from)], transfer, window_, waiting_);
    if (may_stay(transfer.in.size())) window_.try_to_copy(transfer.from);
  }
  const bool may_push = writer != nullptr && may_stay(transfer.out.size());
  if (may_push) window_.try_to_copy(transfer.to);
  // Directions that are done are taken out, so that errors name who is waited for.
  Awaited pending{.from = transfer.from, .to = transfer.to};
  if (writer != nullptr) open(transfer.to, transfer.out, context);
  std::size_t looks = 0;
  const auto recall = [&] {
    return !exceeds_channel(transfer.out.size()) && ++looks > patience(transfer.out.size()) && writer->recall();
  };
  const auto advance = [&] {
    bool moved = false;
    if (writer != nullptr && pending.to >= 0 &&
        (writer->done() || writer->advance() || (may_push && (push(transfer, context) || recall())))) {
      moved = true;
      waiting_.wake_peer(pending.to);
      if (writer->done()) {
        book_.charge_sent(transfer.out.size());
        pending.to = -1;
      }
    }
    if (pending.from >= 0 && incoming->advance(context)) {
      moved = true;
      if (incoming->refused()) {
        const MessageHeader& theirs = *incoming->refused();
        if (theirs.fingerprint == context.fingerprint)
          throw size_error(rank_, transfer.from, segment_.mapping().rank(transfer.from), theirs.bytes,
                           transfer.in.size(), context);
        waiting_.refuse_foreign(transfer.from, {theirs.fingerprint, theirs.bytes}, context);
      }
      waiting_.wake_peer(pending.from);
      if (incoming->done()) {
        book_.charge_received(transfer.received());
        pending.from = -1;
      }
    }
    return moved;
  };
  while (pending.to >= 0 || pending.from >= 0) {
    if (!advance()) waiting_.wait(pending, context, advance);
  }
}

void ShmFabric::announce(int to, std::span<const std::byte> out, CallContext& context) {
  if (!may_stay(out.size())) return;  // Its transfer does not wait either.
  open(to, out, context);
  announced_[static_cast<std::size_t>(to)] = true;
  if (writers_[static_cast<std::size_t>(to)].advance()) waiting_.wake_peer(to);
}

void ShmFabric::expect(int from, std::span<std::byte> in, CallContext& context) {
  if (!may_stay(in.size())) return;
  const Place place = place_for(from, in);
  if (place == 0) return;
  readers_[static_cast<std::size_t>(from)].offer({.fingerprint = context.fingerprint, .bytes = in.size()}, place);
  waiting_.wake_peer(from);
}

// About the time that the way through the ring takes: who waits for that and then goes it takes at most twice as long.
std::size_t ShmFabric::patience(std::size_t bytes) const {
  constexpr std::size_t kBytesALook = 128;
  constexpr std::size_t kTurns = 24;
  return window_.ranks_share_cores() ? kTurns : bytes / kBytesALook;
}

bool ShmFabric::push(const Transfer& transfer, CallContext& context) {
  ChannelWriter& writer = writers_[static_cast<std::size_t>(transfer.to)];
  const auto place = writer.claim();
  if (!place) return false;
  window_.copy_to(transfer.to, *place, transfer.out, context);
  writer.deliver();
  return true;
}

void ShmFabric::open(int to, std::span<const std::byte> out, const CallContext& context) {
  const auto peer = static_cast<std::size_t>(to);
  if (announced_[peer]) {
    announced_[peer] = false;
    return;
  }
  const Place place = may_stay(out.size()) ? place_for(to, out) : 0;
  const bool stays = place != 0 && (exceeds_channel(out.size()) || catches_up(to, out.size()));
  writers_[peer].open({.fingerprint = context.fingerprint, .bytes = out.size()}, out.data(), stays ? place : 0);
}

// A receiver that has messages left to take does not wait for this one.
bool ShmFabric::catches_up(int to, std::size_t bytes) {
  ChannelWriter& writer = writers_[static_cast<std::size_t>(to)];
  for (std::size_t looks = 0; looks <= patience(bytes); ++looks) {
    if (writer.all_taken()) return true;
    pause_core();
  }
  return false;
}

Place ShmFabric::place_for(int peer, std::span<const std::byte> memory) const {
  if (const auto place = window_.place_of(memory)) return *place;
  const std::size_t bytes = memory.size();
  const bool by_kernel = exceeds_channel(bytes) || (bytes >= kLeastByKernel && !window_.ranks_share_cores());
  return by_kernel && window_.copied_by(peer) ? own_place(memory) : 0;
}

void ShmFabric::leave() {
  CallContext context;
  std::optional<Error> error;
  // What others have found already this rank is told too, unless it has heard of an error before.
  if (!heard_ && !waiting_.job_aborted()) error = unfitting_call_error(rank_, size_, waiting_.states(), context);
  const bool unfitting = error.has_value();
  // All that this rank sent is published before; whoever sees it gone looks at its channel once more. And of a sender
  // and a receiver that leave with a message between them one sees the other gone, as both say so (a sequentially
  // consistent store) before they look; what it looks at then is what the other published before.
  segment_.rank_ended(rank_);
  if (!unfitting) error = find_unread(context);
  if (!error) return;
  // A message is also left unread by ranks that have found this one gone, and left for that: it is their error, which
  // they recorded before they left.
  const bool any_error = is_set(segment_.mapping().communicator(kAnyCommunicator).broken) || waiting_.job_aborted();
  if (!unfitting && any_error) return;
  mark_broken(context, *error);
  throw Error(*error);
}

std::optional<Error> ShmFabric::find_unread(const CallContext& context) {
  for (int peer = 0; peer < size_; ++peer) {
    const auto index = static_cast<std::size_t>(peer);
    if (peer == rank_ || !waiting_.has_left(peer)) continue;  // Who is still there, and waits, finds this rank left.
    const RankState& theirs = segment_.mapping().rank(peer);
    if (const auto unread = readers_[index].open())
      return unread_error(rank_, peer, rank_, theirs, Arrived{unread->fingerprint, unread->bytes}, context);
    if (!writers_[index].all_taken())
      return unread_error(rank_, rank_, peer, segment_.mapping().rank(rank_), std::nullopt, context);
  }
  return std::nullopt;
}

std::uint64_t ShmFabric::open_communicator(std::span<const int> members) {
  for (std::uint32_t slot = 1; slot < kCommunicators; ++slot) {
    CommunicatorState& state = segment_.mapping().communicator(slot);
    std::uint32_t handles = 0;
    // Acquire: pairs with the release of the last member that closed it, whose looks at the slot come before.
    if (!state.handles.compare_exchange_strong(handles, static_cast<std::uint32_t>(members.size()),
                                               std::memory_order_acq_rel))
      continue;
    for (const int member : members) {
      if (segment_.mapping().reserve_staging(slot, member)) continue;
      state.handles.store(0, std::memory_order_release);
      throw Error(ErrorCode::system, "rank " + std::to_string(rank_) + ": split: no shared memory is left for the " +
                                         std::to_string(2 * kStagingBytes >> 10) +
                                         " KiB that each rank of a communicator needs; a smaller --heap leaves more");
    }
    // Ours alone until the others hear of it, by a message.
    state.broken.store(static_cast<std::uint32_t>(Once::unset), std::memory_order_relaxed);
    for (const int member : members)
      for (const std::uint64_t parity : {0U, 1U})
        segment_.mapping().flag_line(slot, member, parity).round.store(0, std::memory_order_relaxed);
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

void ShmFabric::mark_broken(CallContext& context, const Error& error) noexcept {
  context.heard = true;
  heard_ = true;
  bool first = false;
  // That of all first: whoever hears of the one, and leaves, leaves after the other is there (see leave).
  for (CommunicatorState* state : {&segment_.mapping().communicator(kAnyCommunicator), &waiting_.state_of(context)})
    first = waiting_.record_error(*state, world_rank(context, error.peer()), error) || first;
  if (first) segment_.mapping().wake_all();
  announced_.assign(announced_.size(), false);
  for (ChannelReader& reader : readers_) reader.withdraw();
  book_.met_error();
  book_.end(true);
}

Traffic ShmFabric::traffic() const { return read_ledger(segment_.mapping().ledger(rank_)); }

}  // namespace shoal::detail

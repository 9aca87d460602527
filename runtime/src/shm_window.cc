#include "shm_window.h"

#include <cerrno>

#include "call_errors.h"
#include "shoal/runtime/copy_blocks.h"

namespace shoal::detail {

void ShmWindow::arrive(std::span<const std::byte> payload, std::uint64_t read_by_others, CallContext& context) {
  book_.charge_sent(read_by_others);
  publish(payload, context);
}

void ShmWindow::arrive_with_notice(std::span<const std::byte> notice, CallContext& context) {
  publish(notice, context);
}

void ShmWindow::publish(std::span<const std::byte> payload, CallContext& context) {
  FlagLine& own = line(rank_, context);
  own.write(context.fingerprint, payload);
  own.publish(context.round);
  waiting_.wake_others(context);
}

std::span<const std::byte> ShmWindow::await(int peer, CallContext& context) {
  const FlagLine& theirs = line(peer, context);
  const auto arrived = [&] { return theirs.has_arrived(context.round); };
  if (!arrived()) waiting_.wait({.from = peer, .arrival = true}, context, arrived);
  if (theirs.fingerprint != context.fingerprint)
    waiting_.refuse_foreign(peer, {theirs.fingerprint, std::nullopt}, context);
  return theirs.payload;
}

std::optional<Place> ShmWindow::place_of(std::span<const std::byte> memory) const {
  // As numbers: pointers into different objects have no order. All but the heaps and staging is the fabric's own.
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const auto start = reinterpret_cast<std::uintptr_t>(mapping_.region.get_address());
  const Geometry& geometry = mapping_.geometry;
  if (address < start + geometry.heaps || address - start > geometry.segment_bytes ||
      memory.size() > geometry.segment_bytes - (address - start))
    return std::nullopt;
  return address - start;
}

std::span<std::byte> ShmWindow::staging(std::uint64_t round, const CallContext& context) {
  return mapping_.staging(slot_of(context.communicator), rank_, round % 2);
}

std::span<std::byte> ShmWindow::reach(Place place, std::size_t bytes, const CallContext& context) {
  const Geometry& geometry = mapping_.geometry;
  if (place < geometry.heaps || place > geometry.segment_bytes || bytes > geometry.segment_bytes - place)
    throw foreign_place_error(rank_, place, bytes, context);
  return {&mapping_.at<std::byte>(place), bytes};
}

bool ShmWindow::others_copy(const CallContext& context) {
  const int members = member_count(context, static_cast<int>(mapping_.geometry.ranks));
  bool all = true;
  for (int member = 0; member < members; ++member) {
    const int peer = world_rank(context, member);
    if (peer == rank_) continue;
    copying_.try_to_copy(peer);
    all &= copying_.copied_by(peer);
  }
  return all;
}

void ShmWindow::copy_from(int peer, Place place, std::span<std::byte> to, CallContext& context) {
  if (!in_own_memory(place)) return copy_blocks(to, reach(place, to.size(), context));
  const int failure = copying_.copy_from(peer, place & ~kOwnMemory, to);
  if (failure != 0) throw_failed(failure, peer, place, to.size(), context);
}

void ShmWindow::copy_to(int peer, Place place, std::span<const std::byte> from, CallContext& context) {
  if (!in_own_memory(place)) return copy_blocks(reach(place, from.size(), context), from);
  const int failure = copying_.copy_to(peer, place & ~kOwnMemory, from);
  if (failure != 0) throw_failed(failure, peer, place, from.size(), context);
}

// It is gone, or has given up and its memory is; else it shows what it has not got.
void ShmWindow::throw_failed(int failure, int peer, Place place, std::size_t bytes, CallContext& context) const {
  if (failure == ESRCH) waiting_.wait({.from = peer}, context, [] { return false; });
  if (waiting_.is_broken(context)) waiting_.throw_broken(context);
  throw foreign_place_error(rank_, place & ~kOwnMemory, bytes, context);
}

void ShmWindow::charge(std::uint64_t sent, std::uint64_t received) {
  book_.charge_sent(sent);
  book_.charge_received(received);
}

}  // namespace shoal::detail

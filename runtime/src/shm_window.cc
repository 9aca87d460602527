#include "shm_window.h"

#include "call_errors.h"

namespace shoal::detail {

void ShmWindow::arrive(std::span<const std::byte> payload, std::uint64_t read_by_others, CallContext& context) {
  FlagLine& own = line(rank_, context);
  own.write(context.fingerprint, payload);
  own.publish(context.round);
  book_.charge_sent(read_by_others);
  const int members = member_count(context, static_cast<int>(mapping_.geometry.ranks));
  for (int member = 0; member < members; ++member) {
    const int peer = world_rank(context, member);
    if (peer != rank_) waiting_.wake_peer(peer);
  }
}

std::span<const std::byte> ShmWindow::await(int peer, ArrivalPart part, CallContext& context) {
  const FlagLine& theirs = line(peer, context);
  const auto arrived = [&] { return theirs.has_arrived(context.round); };
  if (!arrived()) waiting_.wait({.from = peer, .arrival = true}, context, arrived);
  if (theirs.fingerprint != context.fingerprint)
    waiting_.refuse_foreign(peer, {.fingerprint = theirs.fingerprint}, context);
  book_.charge_received(part.bytes);
  return {theirs.payload + part.offset, part.bytes};
}

}  // namespace shoal::detail

// The lines are those of shared memory, written and read in the same order, with a scheduling point before each access:
// a rank that overwrites what another still reads is found out by the values.
//
// Virtual time: a line is there `latency` after its rank arrived, whatever its payload.

#include "simulation_window.h"

#include <algorithm>

#include "call_errors.h"

namespace shoal::detail {

void SimulationWindow::arrive(std::span<const std::byte> payload, std::uint64_t read_by_others, CallContext& context) {
  ++self_.outcome.steps;
  SimulatedLine& own = job_.line(context.communicator, rank_, context.round % 2);
  waiting_.scheduling_point();
  own.flag.write(context.fingerprint, job_.options().phantom ? std::span<const std::byte>{} : payload);
  own.visible = self_.outcome.clock + job_.options().latency;
  waiting_.scheduling_point();
  own.flag.publish(context.round);
  book_.charge_sent(read_by_others);
  const int members = member_count(context, job_.size());
  self_.outcome.messages += static_cast<std::uint64_t>(members - 1);
  for (int member = 0; member < members; ++member) {
    const int peer = world_rank(context, member);
    if (job_.rank(peer).awaited.from == rank_) job_.scheduler().wake(peer);
  }
}

std::span<const std::byte> SimulationWindow::await(int peer, ArrivalPart part, CallContext& context) {
  const SimulatedLine& theirs = job_.line(context.communicator, peer, context.round % 2);
  waiting_.scheduling_point();
  while (!theirs.flag.has_arrived(context.round)) waiting_.block({.from = peer, .arrival = true}, context);
  if (theirs.flag.fingerprint != context.fingerprint)
    job_.refuse_foreign(rank_, peer, {.fingerprint = theirs.flag.fingerprint}, context);
  self_.outcome.clock = std::max(self_.outcome.clock, theirs.visible);
  book_.charge_received(part.bytes);
  return {theirs.flag.payload + part.offset, part.bytes};
}

}  // namespace shoal::detail

// The lines are those of shared memory, written and read in the same order, with a scheduling point before each access:
// a rank that overwrites what another still reads is found out by the values.
//
// Virtual time: a line is there `latency` after its rank arrived, whatever its payload; what is reached takes its
// bytes' time, of the rank that reaches it.

#include "simulation_window.h"

#include <algorithm>
#include <cstring>

#include "call_errors.h"

namespace shoal::detail {

void SimulationWindow::arrive(std::span<const std::byte> payload, std::uint64_t read_by_others, CallContext& context) {
  book_.charge_sent(read_by_others);
  publish(job_.options().phantom ? std::span<const std::byte>{} : payload, context);
}

void SimulationWindow::arrive_with_notice(std::span<const std::byte> notice, CallContext& context) {
  publish(notice, context);
}

void SimulationWindow::publish(std::span<const std::byte> payload, CallContext& context) {
  ++self_.outcome.steps;
  SimulatedLine& own = job_.line(context.communicator, rank_, context.round % 2);
  waiting_.scheduling_point();
  own.flag.write(context.fingerprint, payload);
  own.visible = self_.outcome.clock + job_.options().latency;
  waiting_.scheduling_point();
  own.flag.publish(context.round);
  const int members = member_count(context, job_.size());
  self_.outcome.messages += static_cast<std::uint64_t>(members - 1);
  for (int member = 0; member < members; ++member) {
    const int peer = world_rank(context, member);
    if (job_.rank(peer).awaited.from == rank_) job_.scheduler().wake(peer);
  }
}

std::span<const std::byte> SimulationWindow::await(int peer, CallContext& context) {
  const SimulatedLine& theirs = job_.line(context.communicator, peer, context.round % 2);
  waiting_.scheduling_point();
  while (!theirs.flag.has_arrived(context.round)) waiting_.block({.from = peer, .arrival = true}, context);
  if (theirs.flag.fingerprint != context.fingerprint)
    job_.refuse_foreign(rank_, peer, {.fingerprint = theirs.flag.fingerprint}, context);
  self_.outcome.clock = std::max(self_.outcome.clock, theirs.visible);
  return theirs.flag.payload;
}

std::optional<Place> SimulationWindow::place_of(std::span<const std::byte> memory) const {
  if (memory.empty() || (!job_.is_staging(memory) && !job_.draw_reach())) return std::nullopt;
  return reinterpret_cast<Place>(memory.data());
}

std::span<std::byte> SimulationWindow::staging(std::uint64_t round, const CallContext& context) {
  return job_.staging(context.communicator, rank_, round % 2);
}

std::span<std::byte> SimulationWindow::reach(Place place, std::size_t bytes, const CallContext&) {
  waiting_.scheduling_point();
  self_.outcome.clock += transfer_time(job_.options(), bytes);
  return {reinterpret_cast<std::byte*>(place), bytes};  // All ranks are in this process.
}

bool SimulationWindow::others_copy(const CallContext&) { return job_.draw_copies(); }

void SimulationWindow::copy_from(int, Place place, std::span<std::byte> to, CallContext& context) {
  const auto from = reach(place & ~kOwnMemory, to.size(), context);
  if (!job_.options().phantom) std::memcpy(to.data(), from.data(), to.size());
}

void SimulationWindow::copy_to(int, Place place, std::span<const std::byte> from, CallContext& context) {
  const auto to = reach(place & ~kOwnMemory, from.size(), context);
  if (!job_.options().phantom) std::memcpy(to.data(), from.data(), from.size());
}

void SimulationWindow::charge(std::uint64_t sent, std::uint64_t received) {
  book_.charge_sent(sent);
  book_.charge_received(received);
}

}  // namespace shoal::detail

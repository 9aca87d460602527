// Invariant: a fiber that is blocked is woken by whatever could let it go on: the receiver's bytes or a peer's arrival
// (awaited.from), the sender's room (awaited.to), the end of either, the first error of any communicator, a death, a
// deadlock.

#include "simulation_waiting.h"

#include <csignal>
#include <utility>

#include "mapping.h"

namespace shoal::detail {

void SimulationWaiting::scheduling_point() {
  const std::uint64_t point = ++self_.outcome.scheduling_points;
  const auto& death = job_.options().death;
  if (death && death->rank == rank_ && death->point == point) {
    job_.die(rank_);
    throw SimulatedDeath{};
  }
  if (job_.random() && job_.scheduler().draw(2) == 0) {
    job_.scheduler().yield();
  }
}

void SimulationWaiting::block(const Awaited& awaited, CallContext& context) {
  check(awaited, context);
  self_.blocked_in = &context;
  self_.awaited = awaited;
  job_.scheduler().block();
  self_.blocked_in = nullptr;
  self_.awaited = {};
  scheduling_point();
}

void SimulationWaiting::check(const Awaited& awaited, CallContext& context) {
  const int first = awaited.from >= 0 ? awaited.from : awaited.to;
  if (job_.dead()) {
    throw lost_error(rank_, *job_.dead(), first, fate(FailureKind::signal, SIGKILL), context);
  }
  if (!job_.deadlock().empty()) {
    throw Error(ErrorCode::timeout, job_.deadlock(), rank_in(context, first));
  }
  if (const FirstError* error = job_.broken(context.communicator)) {
    throw broken_error(rank_, *error, !std::exchange(context.heard, true), context);
  }
  for (const int peer : {awaited.from, awaited.to}) {
    if (peer >= 0 && job_.rank(peer).finished) {
      // It may have left because it took this call for another, in which it had nobody to wait for.
      if (const auto mismatch = find_mismatch(rank_, job_.size(), context, job_.states()))
        throw mismatch_error(rank_, *mismatch, context);
      if (const auto error = left_behind_error(rank_, peer, *job_.rank(peer).state, context)) throw Error(*error);
      throw left_error(rank_, peer, context);
    }
  }
}

}  // namespace shoal::detail

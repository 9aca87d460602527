// Two ranks in different calls on different communicators, or one in a collective call and the other in a receive, need
// not share a message that shows it. What shows it is that they wait for each other:
//
//     rank 0 waits in call A for rank 1, which has not begun A
//     rank 1 waits in call B for rank 0, which has not begun B
//
// A rank that waits in a collective call for another's message or arrival waits at least until that one begins the same
// call; one that waits for a message from point to point, of which nothing is in the channel, at least until the other
// begins another call. So each of such a circle waits until the next leaves its call, and that is for ever.
//
// The facts are read one after the other while the ranks may go on. They are read twice: what held at both readings
// held in between, since a rank that waits for the next to begin a call cannot have gone on and come back before it
// did. So all held at one moment, between the two. Ranks that are stopped, or slow, are in no circle unless they are in
// one.

#include "crossed_wait.h"

namespace shoal::detail {
namespace {

std::optional<CrossedWait> read_circle(int rank, int world_size, const WaitView& view) {
  CrossedWait circle;
  bool any_collective = false;
  int waiter = rank;
  for (int ranks = 0; ranks < world_size; ++ranks) {
    const Awaited awaited = view.awaited_by(waiter);
    const int next = awaited.from >= 0 ? awaited.from : awaited.to;
    const RankState& state = view.state_of(waiter);
    const auto call = read_call(state, state.calls_begun.load(std::memory_order_acquire));
    if (next < 0 || !call || call->returned) return std::nullopt;
    const bool collective = call->sequence != 0;
    if (collective && may_have_begun(view.state_of(next), *call)) return std::nullopt;
    if (!collective && awaited.from >= 0 && !view.nothing_sent_yet(next, waiter)) return std::nullopt;
    any_collective = any_collective || collective;
    circle.communicators.push_back(call->communicator);
    if (waiter == rank) {
      circle.peer = next;
      circle.ours = *call;
    } else if (waiter == circle.peer) {
      circle.theirs = *call;
      circle.awaited_by_peer = next;
    }
    waiter = next;
    if (waiter == rank) return any_collective ? std::optional(circle) : std::nullopt;
  }
  return std::nullopt;  // It waits for ranks of a circle, or of none; they find out.
}

bool same(const CrossedWait& one, const CrossedWait& other) {
  return one.peer == other.peer && one.communicators == other.communicators &&
         one.ours.fingerprint == other.ours.fingerprint && one.theirs.fingerprint == other.theirs.fingerprint;
}

}  // namespace

std::optional<CrossedWait> find_crossed_wait(int rank, int world_size, const WaitView& view) {
  const auto first = read_circle(rank, world_size, view);
  if (!first) return std::nullopt;
  const auto second = read_circle(rank, world_size, view);
  return second && same(*first, *second) ? second : std::nullopt;
}

}  // namespace shoal::detail

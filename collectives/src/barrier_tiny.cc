// Tiny barrier: one round of arrivals with nothing in it.
//
// Whoever has seen all others arrive knows that all have. 1 step, P-1 messages, no bytes.

#include "algorithms.h"
#include "arrivals.h"

namespace shoal::detail {

void barrier_tiny(Communicator& comm) {
  comm.arrive({}, 0);
  visit_others(comm, [&](int rank) { comm.await_arrival(rank, 0, 0); });
}

}  // namespace shoal::detail

// Dissemination barrier (Hensgen, Finkel, Manber 1988; gloo; the seed). In round k each rank tells the one 2^k ahead
// that it has arrived, and hears it from the one 2^k behind:
//
//     P = 5   round 0: 0>1 1>2 2>3 3>4 4>0     round 1: 0>2 1>3 2>4 3>0 4>1     round 2: 0>4 1>0 2>1 3>2 4>3
//
// Invariant: after round k a rank knows that the 2^(k+1) ranks up to and including itself have arrived.
// So ceil(log2 P) rounds of empty messages suffice, for any P.

#include "algorithms.h"
#include "ring.h"

namespace shoal::detail {

void barrier_dissemination(Communicator& comm) {
  const Ring ring(comm);
  for (int distance = 1; distance < comm.size(); distance *= 2)
    comm.exchange(ring.ahead(distance), {}, ring.behind(distance), {});
}

}  // namespace shoal::detail

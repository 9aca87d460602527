// Ring all-gather: chunks travel to the right, each rank passing on in the next step what came in the last.
//
//     P = 4, what each rank has        rank 0   rank 1   rank 2   rank 3
//     at the start                     0...     .1..     ..2.     ...3
//     after step 0                     0..3     01..     .12.     ..23
//     after step 1                     0.23     01.3     012.     .123
//     after step 2                     0123     0123     0123     0123
//
// Invariant: entering step s, a rank has chunks rank-s .. rank (modulo P); it sends rank-s and receives rank-s-1.
// P-1 steps; a rank sends all chunks but that of its right neighbour, and receives all but its own.

#include "algorithms.h"
#include "ring.h"

namespace shoal::detail {

void all_gather_ring(Communicator& comm, std::span<std::byte> data, const Chunks& chunks) {
  const Ring ring(comm);
  for (int step = 0; step + 1 < comm.size(); ++step)
    comm.exchange(ring.right(), chunks.slice(data, ring.behind(step)), ring.left(),
                  chunks.slice(data, ring.behind(step + 1)));
}

}  // namespace shoal::detail

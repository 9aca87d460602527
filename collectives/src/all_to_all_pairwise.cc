// Pairwise all-to-all: in step s every rank sends to the one s ahead and receives from the one s behind, so that
// in each step every rank is sender and receiver once:
//
//     P = 4   step 1: 0>1 1>2 2>3 3>0     step 2: 0>2 1>3 2>0 3>1     step 3: 0>3 1>0 2>1 3>2
//
// P-1 steps; each chunk crosses once. Both directions of a step advance together, so no size deadlocks.

#include "algorithms.h"
#include "ring.h"
#include "scratch.h"

namespace shoal::detail {

void all_to_all_pairwise(Communicator& comm, std::span<const std::byte> in, const Chunks& in_chunks,
                         std::span<std::byte> out, const Chunks& out_chunks) {
  const Ring ring(comm);
  copy_bytes(comm, in_chunks.slice(in, comm.rank()), out_chunks.slice(out, comm.rank()));
  for (int step = 1; step < comm.size(); ++step) {
    const int to = ring.ahead(step);
    const int from = ring.behind(step);
    comm.exchange(to, in_chunks.slice(in, to), from, out_chunks.slice(out, from));
  }
}

}  // namespace shoal::detail

// Ring reduce-scatter (the seed; Patarasuk and Yuan 2009). Partial sums travel to the right, and each rank adds its
// own part to what passes (chunk numbers modulo P):
//
//     send partial sum of chunk rank-s-1 --> right          left --> fold into own part of chunk rank-s-2
//
// Invariant: entering step s, the partial sum of chunk rank-s-1 covers ranks rank-s .. rank, summed in that order.
// After the last step, s = P-2, chunk `rank` covers all ranks.
//
// So the order of a sum is that of the ring from the rank right of the chunk's owner on: it differs from chunk to
// chunk, and with it the rounding. P-1 steps; a rank sends all chunks but its own. The caller's data is
// not modified: two chunks of scratch hold the partial sum that leaves and the one that arrives.

#include "algorithms.h"
#include "ring.h"
#include "scratch.h"

namespace shoal::detail {

void reduce_scatter_ring(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                         const Chunks& chunks, ReduceOp op, DataType type) {
  const Ring ring(comm);
  const Fold fold = fold_kernel(op, type);
  // Even and odd steps have a scratch each: a step receives into its own and sends from the other's, where the step
  // before received. The first sends straight from `in`, the last receives into `own`; so P = 2 needs none.
  const std::size_t scratch_bytes = comm.size() > 2 ? chunks.largest() : 0;
  Scratch even(comm, scratch_bytes);
  Scratch odd(comm, comm.size() > 3 ? scratch_bytes : 0);

  copy_bytes(comm, chunks.slice(in, comm.rank()), own);
  std::span<const std::byte> outgoing = chunks.slice(in, ring.behind(1));
  for (int step = 0; step + 1 < comm.size(); ++step) {
    const int arriving = ring.behind(step + 2);
    std::span<std::byte> partial = own;
    if (arriving != comm.rank()) {
      partial = (step % 2 == 0 ? even : odd).bytes().first(chunks.size(arriving));
      copy_bytes(comm, chunks.slice(in, arriving), partial);
    }
    // Both directions advance together: a send that waits for its receive would leave every
    // rank blocked as soon as a chunk exceeds the channel.
    comm.exchange_fold(ring.right(), outgoing, ring.left(), partial, fold);
    outgoing = partial;
  }
  if (op == ReduceOp::mean) divide_by_ranks(comm, type, own);
}

}  // namespace shoal::detail

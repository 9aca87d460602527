// Tiny reduce-scatter: every rank publishes its whole vector in its flag line, reads its own chunk of those of all
// others, and combines the P chunks along the canonical tree.
//
// 1 step, P-1 messages; what is read, and so counted, is what pairwise exchanges: all chunks of a rank but its own.

#include "algorithms.h"
#include "arrivals.h"
#include "by_rank.h"
#include "scratch.h"

namespace shoal::detail {

void reduce_scatter_tiny(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                         const Chunks& chunks, ReduceOp op, DataType type) {
  const int me = comm.rank();
  comm.arrive(in, in.size() - chunks.size(me));
  ByRank<const std::byte*> operands(static_cast<std::size_t>(comm.size()));
  operands[static_cast<std::size_t>(me)] = chunks.slice(in, me).data();
  visit_others(comm, [&](int rank) {
    operands[static_cast<std::size_t>(rank)] = comm.await_arrival(rank, chunks.begin(me), chunks.size(me)).data();
  });
  combine_tree(comm, op, type, own, span_of(operands));
}

}  // namespace shoal::detail

// Tiny all-reduce: every rank publishes its vector in its flag line, reads those of all others, and combines all P
// along the canonical tree by itself. The operands are the same everywhere, so all ranks end with the same bits.
//
// 1 step, P-1 messages. A rank's vector is read by P-1 others: more bytes than any other algorithm's, and fewer steps.

#include "algorithms.h"
#include "arrivals.h"
#include "by_rank.h"
#include "scratch.h"

namespace shoal::detail {

void all_reduce_tiny(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, ReduceOp op,
                     DataType type) {
  comm.arrive(in, read_by_all(comm, in.size()));
  ByRank<const std::byte*> operands(static_cast<std::size_t>(comm.size()));
  operands[static_cast<std::size_t>(comm.rank())] = in.data();
  visit_others(comm, [&](int rank) {
    operands[static_cast<std::size_t>(rank)] = comm.await_arrival(rank, 0, in.size()).data();
  });
  combine_tree(comm, op, type, out, span_of(operands));
}

}  // namespace shoal::detail

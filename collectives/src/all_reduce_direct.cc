// Direct all-reduce: every rank shows its vector, combines what all P show of its own chunk along the canonical tree,
// and hands the result to all: 2 S P bytes of memory traffic where all is in the shared heap, the least there can be.
//
//     round k:   show block k of every chunk     all arrived     block k of the own chunk = tree(P operands), to all
//                (and the result of round k-1)                   (take the others' results of round k-1)
//
// As many rounds as the largest chunk has blocks, and one more, after which the last results are there. A rank sends
// all chunks but its own, and its own result to all others: the bytes of a ring.

#include "algorithms.h"
#include "result_blocks.h"

namespace shoal::detail {

void all_reduce_direct(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, ReduceOp op,
                       DataType type, Showing showing) {
  combine_blocks(comm, in, out, ResultBlocks::kEverybody, op, type, showing);
}

}  // namespace shoal::detail

// Direct reduce: the direct all-reduce with the root as the only one to receive: every rank combines its own chunk
// along the canonical tree, out of what all P show, and writes it into the root's `out`, or shows it to the root.
//
// As many rounds as the largest chunk has blocks, and one more. A rank sends all chunks but its own, and all but the
// root their own to the root: the bytes of pairwise.

#include "algorithms.h"
#include "result_blocks.h"

namespace shoal::detail {

void reduce_direct(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, int root, ReduceOp op,
                   DataType type, Showing showing) {
  combine_blocks(comm, in, out, root, op, type, showing);
}

}  // namespace shoal::detail

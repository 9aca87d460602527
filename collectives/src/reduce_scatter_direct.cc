// Direct reduce-scatter: every rank shows its vector, and combines what all P show of its own chunk along the canonical
// tree.
//
//     round k:   show block k of every chunk      all arrived      own block k = tree(P operands)
//
// As many rounds as the largest chunk has blocks, and one more where a rank's `in` lies in the shared heap, which is
// shown there. What is read, and so counted, is what pairwise exchanges: all chunks of a rank but its own.
//
// `own` may be the rank's chunk of `in`: nobody else reads that.

#include "algorithms.h"
#include "chunk_blocks.h"

namespace shoal::detail {

void reduce_scatter_direct(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                           const Chunks& chunks, ReduceOp op, DataType type, Showing showing) {
  ChunkBlocks blocks(comm, in, chunks, showing);
  Notices notices(comm);
  for (std::uint64_t round = 0; round < blocks.rounds(); ++round) {
    Notice notice;
    blocks.show(round, notice);
    notices.arrive(notice);
    notices.await_all();
    if (notices.all_in_place()) blocks.take_whole();
    blocks.charge_shown(round);
    const auto target = blocks.block(own, round);
    blocks.combine(notices, round, [&](std::size_t begin, std::size_t bytes, std::span<const std::byte*> operands) {
      combine_tree(comm, op, type, target.subspan(begin, bytes), operands);
    });
  }
  notices.close();
}

}  // namespace shoal::detail

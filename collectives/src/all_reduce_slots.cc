// All-reduce by slots: every rank copies its vector into its staging, reads those of all others, and combines all P
// along the canonical tree by itself. The operands are the same everywhere, so all ranks end with the same bits.
//
// One step for each staging-full, of which most vectors that are worth it are less than one. A rank's vector is read by
// P-1 others: more bytes than the direct algorithm's, and one step where that takes two.

#include "algorithms.h"
#include "notices.h"

namespace shoal::detail {

void all_reduce_slots(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, ReduceOp op,
                      DataType type) {
  Notices notices(comm);
  ByRank<const std::byte*> operands(static_cast<std::size_t>(comm.size()));
  const std::size_t block_bytes = comm.size() == 1 ? kStagingBytes : comm.staging().size() / kBlockUnit * kBlockUnit;
  for (std::uint64_t round = 0; round < blocks_in(in.size(), block_bytes); ++round) {
    const auto block = block_of(in, round, block_bytes);
    comm.charge(read_by_all(comm, block.size()), 0);
    notices.arrive({.data = comm.size() == 1 ? 0 : stage(comm, block)});
    notices.await_all();
    operands[static_cast<std::size_t>(comm.rank())] = block.data();
    visit_others(comm, [&](int rank) {
      operands[static_cast<std::size_t>(rank)] = comm.reach(notices.of(rank).data, block.size()).data();
      comm.charge(0, block.size());
    });
    combine_tree(comm, op, type, block_of(out, round, block_bytes), span_of(operands));
  }
}

}  // namespace shoal::detail

// All-reduce by slots: every rank shows its vector, reads those of all others, and combines all P along the canonical
// tree by itself. The operands are the same everywhere, so all ranks end with the same bits.
//
// One step for each staging-full, of which most vectors that are worth it are less than one, and one more where a
// rank's vector lies in the shared heap: it is shown there, and must stay until all have read it. A rank's vector is
// read by P-1 others: more bytes than the direct algorithm's, and one step where that takes two.

#include "algorithms.h"
#include "notices.h"

namespace shoal::detail {

void all_reduce_slots(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, ReduceOp op,
                      DataType type, Showing showing) {
  // What this rank writes its result over while others may read it still is copied.
  const auto place = place_to_show(comm, in, in.data() == out.data() ? Showing::copies : showing);
  std::size_t block_bytes = comm.size() == 1 ? kStagingBytes : comm.staging().size() / kBlockUnit * kBlockUnit;
  Notices notices(comm);
  ByRank<const std::byte*> operands(static_cast<std::size_t>(comm.size()));
  for (std::uint64_t round = 0; round < blocks_in(in.size(), block_bytes); ++round) {
    notices.arrive(notice_of(comm, place, block_of(in, round, block_bytes)));
    notices.await_all();
    if (notices.all_in_place()) block_bytes = in.size();
    const auto block = block_of(in, round, block_bytes);
    comm.charge(read_by_all(comm, block.size()), 0);
    operands[static_cast<std::size_t>(comm.rank())] = block.data();
    visit_others(comm, [&](int rank) {
      const Place theirs = place_of_block(notices.of(rank), round, block_bytes);
      operands[static_cast<std::size_t>(rank)] = comm.reach(theirs, block.size()).data();
      comm.charge(0, block.size());
    });
    combine_tree(comm, op, type, block_of(out, round, block_bytes), span_of(operands));
  }
  notices.close();
}

}  // namespace shoal::detail

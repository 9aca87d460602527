// Direct all-to-all: every rank shows its chunks for all others, and copies the one for itself from each of them.
//
//     round k:   show block k of every chunk      all arrived      copy block k of the own chunk from each
//
// As many rounds as the largest chunk has blocks, and one more where a rank's `in` lies in the shared heap, which is
// shown there. The bytes of pairwise.

#include "algorithms.h"
#include "chunk_blocks.h"

namespace shoal::detail {

void all_to_all_direct(Communicator& comm, std::span<const std::byte> in, const Chunks& in_chunks,
                       std::span<std::byte> out, const Chunks& out_chunks, Showing showing) {
  ChunkBlocks blocks(comm, in, in_chunks, showing);
  Notices notices(comm);
  const auto target = [&](int rank, std::uint64_t round) { return blocks.block(out_chunks.slice(out, rank), round); };
  for (std::uint64_t round = 0; round < blocks.rounds(); ++round) {
    Notice notice;
    blocks.show(round, notice);
    notices.arrive(notice);
    notices.await_all();
    if (notices.all_in_place()) blocks.take_whole();
    blocks.charge_shown(round);
    copy_bytes(comm, blocks.block(in_chunks.slice(in, comm.rank()), round), target(comm.rank(), round));
    visit_others(comm, [&](int rank) { blocks.copy_part(rank, notices.of(rank), round, target(rank, round)); });
  }
  notices.close();
}

}  // namespace shoal::detail

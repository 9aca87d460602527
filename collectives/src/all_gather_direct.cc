// Direct all-gather: every rank shows its chunk, and copies those of all others.
//
//     round k:   show block k of the own chunk      all arrived      copy block k of each other chunk
//
// As many rounds as the largest chunk has blocks, and one more where a rank's chunk lies in the shared heap: it is
// shown there, and must stay until all have read it. A rank's chunk is read by P-1 others: the bytes of the ring.

#include "algorithms.h"
#include "notices.h"

namespace shoal::detail {
namespace {

/// All ranks copy the same pieces at about the same time, so that a piece comes from memory once.
constexpr std::size_t kPieceBytes = std::size_t{128} << 10;

}  // namespace

void all_gather_direct(Communicator& comm, std::span<const std::byte> own, std::span<std::byte> data,
                       const Chunks& chunks, Showing showing) {
  const auto place = place_to_show(comm, own, showing);
  std::size_t block_bytes = vector_block_bytes(comm);
  Notices notices(comm);
  for (std::uint64_t round = 0; round < blocks_in(chunks.largest(), block_bytes); ++round) {
    notices.arrive(notice_of(comm, place, block_of(own, round, block_bytes)));
    notices.await_all();
    if (notices.all_in_place()) block_bytes = chunks.largest();
    const auto shown = block_of(own, round, block_bytes);
    comm.charge(read_by_all(comm, shown.size()), 0);
    for (std::uint64_t piece = 0; piece < blocks_in(std::min(block_bytes, chunks.largest()), kPieceBytes); ++piece) {
      const auto target = [&](int rank) {
        return block_of(block_of(chunks.slice(data, rank), round, block_bytes), piece, kPieceBytes);
      };
      copy_bytes(comm, block_of(shown, piece, kPieceBytes), target(comm.rank()));
      visit_others(comm, [&](int rank) {
        const Place theirs = place_of_block(notices.of(rank), round, block_bytes);
        comm.copy_from(rank, theirs + piece * kPieceBytes, target(rank));
        comm.charge(0, target(rank).size());
      });
    }
  }
  notices.close();
}

}  // namespace shoal::detail

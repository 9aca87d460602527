// Direct all-gather: every rank shows its chunk, and copies those of all others.
//
//     round k:   show block k of the own chunk      all arrived      copy block k of each other chunk
//
// As many rounds as the largest chunk has blocks, and one more where a rank's chunk lies in the shared heap: it is shown
// there, and must stay until all have read it. A rank's chunk is read by P-1 others: the bytes of the ring.

#include "algorithms.h"
#include "notices.h"

namespace shoal::detail {

void all_gather_direct(Communicator& comm, std::span<const std::byte> own, std::span<std::byte> data,
                       const Chunks& chunks, Showing showing) {
  const auto place = place_to_show(comm, own, showing);
  const std::size_t block_bytes =
      comm.size() == 1 ? kDirectBlockBytes : std::min(kDirectBlockBytes, comm.staging().size());
  Notices notices(comm);
  for (std::uint64_t round = 0; round < blocks_in(chunks.largest(), block_bytes); ++round) {
    const auto shown = block_of(own, round, block_bytes);
    Notice notice{.data_in_place = place ? 1U : 0U};
    if (!shown.empty() && comm.size() > 1) notice.data = place ? *place + round * block_bytes : stage(comm, shown);
    comm.charge(read_by_all(comm, shown.size()), 0);
    notices.arrive(notice);
    copy_bytes(comm, shown, block_of(chunks.slice(data, comm.rank()), round, block_bytes));
    notices.await_all();
    visit_others(comm, [&](int rank) {
      const auto target = block_of(chunks.slice(data, rank), round, block_bytes);
      if (target.empty()) return;
      copy_bytes(comm, comm.reach(notices.of(rank).data, target.size()), target);
      comm.charge(0, target.size());
    });
  }
  notices.close();
}

}  // namespace shoal::detail

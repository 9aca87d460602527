// Direct broadcast: the root shows its data, all others copy it.
//
//     round k:   the root shows block k      all arrived      copy block k
//
// Every rank awaits every other, though only the root has anything to show: so the root may write into its staging again
// two rounds later. As many rounds as there are blocks, and one more where the root's data lies in the shared heap, which
// is shown there. The root's data is read by P-1 others.

#include "algorithms.h"
#include "notices.h"

namespace shoal::detail {

void broadcast_direct(Communicator& comm, std::span<std::byte> data, int root, Showing showing) {
  if (comm.size() == 1) return;
  const bool at_root = comm.rank() == root;
  const auto place = at_root ? place_to_show(comm, data, showing) : std::nullopt;
  const std::size_t block_bytes = std::min(kDirectBlockBytes, comm.staging().size());
  Notices notices(comm);
  for (std::uint64_t round = 0; round < blocks_in(data.size(), block_bytes); ++round) {
    const auto block = block_of(data, round, block_bytes);
    Notice notice{.data_in_place = place ? 1U : 0U};
    if (at_root && !block.empty()) {
      notice.data = place ? *place + round * block_bytes : stage(comm, block);
      comm.charge(read_by_all(comm, block.size()), 0);
    }
    notices.arrive(notice);
    notices.await_all();
    if (at_root || block.empty()) continue;
    copy_bytes(comm, comm.reach(notices.of(root).data, block.size()), block);
    comm.charge(0, block.size());
  }
  notices.close();
}

}  // namespace shoal::detail

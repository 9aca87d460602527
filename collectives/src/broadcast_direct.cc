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
  const auto place = place_to_read(comm, data, showing);
  std::size_t block_bytes = std::min(kDirectBlockBytes, comm.staging().size());
  Notices notices(comm);
  for (std::uint64_t round = 0; round < blocks_in(data.size(), block_bytes); ++round) {
    Notice notice;
    if (at_root) {
      notice.data_in_place = place ? 1U : 0U;
      notice.data = place ? *place : stage(comm, block_of(data, round, block_bytes));
    }
    notices.arrive(notice);
    notices.await_all();
    const Notice& shown = notices.of(root);
    if (shown.data_in_place != 0) block_bytes = data.size();
    const auto block = block_of(data, round, block_bytes);
    if (at_root) {
      comm.charge(read_by_all(comm, block.size()), 0);
    } else {
      comm.copy_from(root, shown.data, block);
      comm.charge(0, block.size());
    }
  }
  notices.close();
}

}  // namespace shoal::detail

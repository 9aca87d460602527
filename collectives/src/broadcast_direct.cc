// Direct broadcast: the root shows its data, all others copy it.
//
//     round k:   the root shows block k      all arrived      copy block k
//
// Every rank awaits every other, though only the root has anything to show: so the root may write into its staging
// again two rounds later. As many rounds as there are blocks. Where the root shows its data where it lies there is one
// block, of everything, and a round more, and the root does its share: of each rank whose buffer can be got at it
// copies the P-th part itself. The root's data goes to P-1 others.

#include "algorithms.h"
#include "notices.h"

namespace shoal::detail {

void broadcast_direct(Communicator& comm, std::span<std::byte> data, int root, Showing showing) {
  if (comm.size() == 1) return;
  const bool at_root = comm.rank() == root;
  const auto place = place_to_show(comm, data, showing);
  std::size_t block_bytes = vector_block_bytes(comm);
  Notices notices(comm);
  for (std::uint64_t round = 0; round < blocks_in(data.size(), block_bytes); ++round) {
    notices.arrive(at_root ? notice_of(comm, place, block_of(data, round, block_bytes))
                           : Notice{.out = round == 0 ? place.value_or(0) : 0});
    notices.await_all();
    const Notice& shown = notices.of(root);
    const bool in_place = shown.data_in_place != 0;
    if (in_place) block_bytes = data.size();
    const auto block = block_of(data, round, block_bytes);
    const std::size_t share = block.size() / static_cast<std::size_t>(comm.size()) / kBlockUnit * kBlockUnit;
    const auto copied_by_root = [&](const Notice& theirs) { return in_place && theirs.out != 0 ? share : 0; };
    if (at_root) {
      comm.charge(read_by_all(comm, block.size()), 0);
      visit_others(comm, [&](int rank) {
        const auto part = block.last(copied_by_root(notices.of(rank)));
        comm.copy_to(rank, notices.of(rank).out + (block.size() - part.size()), part);
      });
    } else {
      const std::size_t own = block.size() - copied_by_root(notices.of(comm.rank()));
      comm.copy_from(root, shown.data, block.first(own));
      comm.charge(0, block.size());
    }
  }
  notices.close();
}

}  // namespace shoal::detail

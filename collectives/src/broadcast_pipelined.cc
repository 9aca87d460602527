// Pipelined broadcast: the data goes along a chain in blocks, and each rank passes one block on while the next arrives.
// Places are ranks counted from the root, modulo P:
//
//     P = 4, blocks a b c      step 0    step 1    step 2    step 3    step 4
//     0 > 1                    a         b         c
//     1 > 2                              a         b         c
//     2 > 3                                        a         b         c
//
// Invariant: a place that enters step k has the blocks before k - (its place - 1).
//
// Every rank but the last sends the data once, whatever P is, where the root of a binomial tree sends it log2 P times:
// for messages of many blocks it takes the time of one transfer. The last block arrives P - 2 steps late.

#include "algorithms.h"
#include "ring.h"

namespace shoal::detail {

void broadcast_pipelined(Communicator& comm, std::span<std::byte> data, int root) {
  const Ring ring(comm);
  const int place = ring.behind(root);
  const bool first = place == 0;
  const bool last = place + 1 == comm.size();
  const std::uint64_t blocks = blocks_in(data.size(), kBroadcastBlockBytes);
  const auto block = [&](std::uint64_t index) { return block_of(data, index, kBroadcastBlockBytes); };

  if (!first) comm.recv(ring.left(), block(0));
  for (std::uint64_t next = 1; next < blocks; ++next) {
    if (first && !last) comm.send(ring.right(), block(next - 1));
    if (last && !first) comm.recv(ring.left(), block(next));
    if (!first && !last) comm.exchange(ring.right(), block(next - 1), ring.left(), block(next));
  }
  if (!last) comm.send(ring.right(), block(blocks - 1));
}

}  // namespace shoal::detail

// Linear scatter: the root sends every other rank its chunk, in rank order.
//
//     root > 1   root > 2   ...   root > P-1
//
// Chunks that their receivers take from where they lie are all announced first, so that these do so at the same time.
//
// P-1 steps at the root, one elsewhere. Every chunk crosses once, which is the least that a scatter can send.

#include "algorithms.h"
#include "scratch.h"

namespace shoal::detail {

void scatter_linear(Communicator& comm, std::span<const std::byte> whole, std::span<std::byte> own,
                    const Chunks& chunks, int root) {
  if (comm.rank() != root) {
    scatter_linear_off_root(comm, own, root);
    return;
  }
  constexpr std::size_t kMany = std::size_t{4} << 10;  // For less the loop costs more than it may bring.
  for (int to = 0; to < comm.size() && whole.size() > kMany; ++to)
    if (to != root) comm.announce(to, chunks.slice(whole, to));
  copy_bytes(comm, chunks.slice(whole, root), own);
  for (int to = 0; to < comm.size(); ++to)
    if (to != root) comm.send(to, chunks.slice(whole, to));
}

void scatter_linear_off_root(Communicator& comm, std::span<std::byte> own, int root) { comm.recv(root, own); }

}  // namespace shoal::detail

// Linear gather: the root receives every other rank's chunk, in rank order, into its place.
//
//     1 > root   2 > root   ...   P-1 > root
//
// P-1 steps at the root, one elsewhere. Every chunk crosses once, which is the least that a gather can send. All are
// expected first, so that long ones are put where they belong by their senders, at the same time.

#include "algorithms.h"
#include "scratch.h"

namespace shoal::detail {

void gather_linear(Communicator& comm, std::span<const std::byte> own, std::span<std::byte> whole, const Chunks& chunks,
                   int root) {
  if (comm.rank() != root) {
    gather_linear_off_root(comm, own, root);
    return;
  }
  for (int from = 0; from < comm.size(); ++from)
    if (from != root) comm.expect(from, chunks.slice(whole, from));
  copy_bytes(comm, own, chunks.slice(whole, root));
  for (int from = 0; from < comm.size(); ++from)
    if (from != root) comm.recv(from, chunks.slice(whole, from));
}

void gather_linear_off_root(Communicator& comm, std::span<const std::byte> own, int root) { comm.send(root, own); }

}  // namespace shoal::detail

// Binomial scatter: each rank receives the chunks of its subtree in one message and sends each child's on. Places are
// ranks counted from the root, modulo P:
//
//     P = 7   distance 4:   0 > 4
//             distance 2:   0 > 2   4 > 6
//             distance 1:   0 > 1   2 > 3   4 > 5
//
// Invariant: a rank that has sent to the child at distance d has yet to send the chunks of the places nearer than d.
//
// ceil(log2 P) steps at the root in place of P-1; a chunk crosses once for each level that it comes down. Memory: the
// chunks of the subtree; at the root that of the one subtree whose chunks do not lie side by side.
//
// The length of the whole vector is known at the root only. What arrives tells the lengths of the chunks in it: they
// differ by at most one element, and the longer ones are the first ranks'.

#include <string>

#include "algorithms.h"
#include "scratch.h"
#include "shoal/runtime/error.h"
#include "subtree.h"

namespace shoal::detail {

void scatter_binomial(Communicator& comm, std::span<const std::byte> whole, std::span<std::byte> own,
                      const Chunks& chunks, int root) {
  const Subtree tree(comm.size(), comm.rank(), root);
  for (int distance = tree.farthest_child(); distance >= 1; distance /= 2) {
    const int first = tree.child(distance);
    const int end = first + tree.child_width(distance);
    const std::size_t begin = chunks.begin(first);
    if (end <= comm.size()) {
      comm.send(first, whole.subspan(begin, chunks.begin(end) - begin));
    } else {
      const auto last_ranks = whole.subspan(begin);
      const auto first_ranks = whole.first(chunks.begin(end - comm.size()));
      Scratch joined(comm, last_ranks.size() + first_ranks.size());
      copy_bytes(comm, last_ranks, joined.bytes());
      copy_bytes(comm, first_ranks, joined.bytes().subspan(last_ranks.size()));
      comm.send(first, joined.bytes());
    }
  }
  copy_bytes(comm, chunks.slice(whole, root), own);
}

void scatter_binomial_off_root(Communicator& comm, std::span<std::byte> own, std::size_t element_bytes, int root) {
  const Subtree tree(comm.size(), comm.rank(), root);
  if (tree.width() == 1) return comm.recv(tree.parent(), own);

  Scratch joined(comm, static_cast<std::size_t>(tree.width()) * (own.size() + element_bytes));
  const std::size_t arrived = comm.recv_at_most(tree.parent(), joined.bytes());
  const auto elements = [&](int first, int count) {
    return tree.elements_of_total(arrived / element_bytes, first, count);
  };
  if (elements(0, 1) * element_bytes != own.size())
    throw Error(ErrorCode::mismatch,
                "rank " + std::to_string(comm.rank()) + ": mismatch in scatter (binomial): out has " +
                    std::to_string(own.size() / element_bytes) + " elements, and " + std::to_string(elements(0, 1)) +
                    " came for it from peer " + std::to_string(tree.parent()),
                tree.parent());
  for (int distance = tree.farthest_child(); distance >= 1; distance /= 2) {
    const std::size_t begin = elements(0, distance) * element_bytes;
    const std::size_t bytes = elements(distance, tree.child_width(distance)) * element_bytes;
    comm.send(tree.child(distance), joined.bytes().subspan(begin, bytes));
  }
  copy_bytes(comm, joined.bytes().first(own.size()), own);
}

}  // namespace shoal::detail

// Binomial gather: each rank joins the chunks of its subtree and sends them to its parent in one message. Places are
// ranks counted from the root, modulo P:
//
//     P = 7   distance 1:   1 > 0   3 > 2   5 > 4
//             distance 2:   2 > 0   6 > 4
//             distance 4:   4 > 0
//
// Invariant: a rank has the chunks of the places of its subtree that are nearer than the next child, in that order.
//
// ceil(log2 P) steps at the root in place of P-1; a chunk crosses once for each level that it climbs. Memory: the
// chunks of the subtree; at the root that of the one subtree whose chunks do not lie side by side.
//
// The length of the whole vector is known at the root only. A rank does not need it: chunks differ by at most one
// element, which bounds what arrives; and that the chunks of a subtree fit together is checked where they meet.

#include <string>
#include <vector>

#include "algorithms.h"
#include "scratch.h"
#include "shoal/runtime/error.h"
#include "subtree.h"

namespace shoal::detail {

void gather_binomial(Communicator& comm, std::span<const std::byte> own, std::span<std::byte> whole,
                     const Chunks& chunks, int root) {
  const Subtree tree(comm.size(), comm.rank(), root);
  copy_bytes(comm, own, chunks.slice(whole, root));
  for (int distance = 1; distance < tree.width(); distance *= 2) {
    const int first = tree.child(distance);
    const int end = first + tree.child_width(distance);
    const std::size_t begin = chunks.begin(first);
    if (end <= comm.size()) {
      comm.recv(first, whole.subspan(begin, chunks.begin(end) - begin));
    } else {
      const std::size_t last_ranks = whole.size() - begin;
      Scratch joined(comm, last_ranks + chunks.begin(end - comm.size()));
      comm.recv(first, joined.bytes());
      copy_bytes(comm, joined.bytes().first(last_ranks), whole.subspan(begin));
      copy_bytes(comm, joined.bytes().subspan(last_ranks), whole);
    }
  }
}

void gather_binomial_off_root(Communicator& comm, std::span<const std::byte> own, std::size_t element_bytes, int root) {
  const Subtree tree(comm.size(), comm.rank(), root);
  if (tree.width() == 1) return comm.send(tree.parent(), own);

  const std::size_t largest = own.size() + element_bytes;
  Scratch joined(comm, static_cast<std::size_t>(tree.width()) * largest);
  copy_bytes(comm, own, joined.bytes());
  std::size_t filled = own.size();
  std::vector<std::size_t> arrived;  // By child.
  for (int distance = 1; distance < tree.width(); distance *= 2) {
    const std::size_t most = static_cast<std::size_t>(tree.child_width(distance)) * largest;
    arrived.push_back(comm.recv_at_most(tree.child(distance), joined.bytes().subspan(filled, most)));
    filled += arrived.back();
  }

  const std::size_t total = filled / element_bytes;
  for (int child = 0; child < tree.children(); ++child) {
    const int distance = 1 << child;
    const std::size_t elements = arrived[static_cast<std::size_t>(child)] / element_bytes;
    if (elements != tree.elements_of_total(total, distance, tree.child_width(distance)))
      throw Error(ErrorCode::mismatch,
                  "rank " + std::to_string(comm.rank()) + ": mismatch in gather (binomial): in has " +
                      std::to_string(own.size() / element_bytes) + " elements, and " + std::to_string(elements) +
                      " came from peer " + std::to_string(tree.child(distance)) + " for " +
                      std::to_string(tree.child_width(distance)) + " of the ranks: no vector has such chunks",
                  tree.child(distance));
  }
  comm.send(tree.parent(), joined.bytes().first(filled));
}

}  // namespace shoal::detail

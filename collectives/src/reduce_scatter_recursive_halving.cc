// Recursive-halving reduce-scatter: in each level a rank of the core gives the half of its vector that is its peer's,
// and combines the other half with what it gets. Far ranks first, so the order is the canonical tree.
//
//     P = 8, what rank 0 and its peers work on, chunks 0 .. 7
//
//     distance 4     0 <> 4     rank 0 keeps 0123, rank 4 keeps 4567
//     distance 2     0 <> 2     rank 0 keeps 01..
//     distance 1     0 <> 1     rank 0 keeps 0...
//
// Where P is no power of two the outer ranks first hand their vectors in, and at the end get their chunks. So that what
// a rank keeps is one piece of memory all the way, the vector is packed by blocks: block q is all that passes through
// rank q of the core.
//
//     P = 6, C = 4:     | 0 4 | 1 5 | 2 | 3 |
//
// Invariant: entering the level of distance d, a rank has blocks q .. q+2d-1 (q: itself with its low bits cleared),
// which hold the result over all ranks that are congruent to it modulo 2d. The lower rank stands left.
//
// log2 C exchanges of S/2, S/4, ...: the bytes of the ring in fewer steps, where P is a power of two; an outer rank
// costs itself and its inner one a whole vector. Source: Thakur, Rabenseifner and Gropp 2005. Memory: the vector, and
// up to half of its blocks for what arrives from a lower rank.

#include <bit>
#include <vector>

#include "algorithms.h"
#include "core.h"
#include "scratch.h"

namespace shoal::detail {
namespace {

Chunks blocks_of(const Chunks& chunks, const Core& core) {
  std::vector<std::size_t> lengths(static_cast<std::size_t>(core.size()));
  for (int rank = 0; rank < core.size(); ++rank)
    lengths[static_cast<std::size_t>(rank)] =
        chunks.size(rank) + (core.has_outer(rank) ? chunks.size(core.outer_of(rank)) : 0);
  return Chunks(lengths);
}

void pack(const Communicator& comm, std::span<const std::byte> in, const Chunks& chunks, const Core& core,
          std::span<std::byte> packed) {
  for (int rank = 0; rank < core.size(); ++rank) {
    copy_bytes(comm, chunks.slice(in, rank), packed);
    packed = packed.subspan(chunks.size(rank));
    if (!core.has_outer(rank)) continue;
    copy_bytes(comm, chunks.slice(in, core.outer_of(rank)), packed);
    packed = packed.subspan(chunks.size(core.outer_of(rank)));
  }
}

/// From all blocks of a rank of the core to the result of its own, which lies in one of the two.
std::span<std::byte> halve(Communicator& comm, std::span<std::byte> partial, std::span<std::byte> spare,
                           const Chunks& blocks, const Fold& fold) {
  int first = 0;  // Of the blocks in `partial`.
  for (int distance = blocks.count() / 2; distance >= 1; distance /= 2) {
    const int peer = comm.rank() ^ distance;
    const std::size_t middle = blocks.begin(first + distance) - blocks.begin(first);
    const auto lower = partial.first(middle);
    const auto upper = partial.subspan(middle);
    if (comm.rank() < peer) {
      comm.exchange_fold(peer, upper, peer, lower, fold);
      partial = lower;
    } else {
      const auto arriving = spare.first(upper.size());
      comm.exchange(peer, lower, peer, arriving);
      fold_bytes(comm, fold, arriving, upper);
      spare = partial;
      partial = arriving;
      first += distance;
    }
  }
  return partial;
}

}  // namespace

void reduce_scatter_recursive_halving(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                                      const Chunks& chunks, ReduceOp op, DataType type) {
  const Core core(comm.size());
  const int rank = comm.rank();
  Scratch packed(comm, in.size());
  pack(comm, in, chunks, core, packed.bytes());

  if (!core.holds(rank)) {
    comm.send(core.inner_of(rank), packed.bytes());
    comm.recv(core.inner_of(rank), own);
  } else {
    const Fold fold = fold_kernel(op, type);
    const Chunks blocks = blocks_of(chunks, core);
    // The first time that this rank is the higher one of two it gets blocks d .. 2d-1 (d: its highest bit), which may
    // be more than the vector's second half, as the longer chunks come first. From then on it has its old vector to
    // spare.
    const int first_blocks = rank == 0 ? 0 : static_cast<int>(std::bit_floor(static_cast<unsigned>(rank)));
    Scratch spare(comm, blocks.begin(2 * first_blocks) - blocks.begin(first_blocks));
    if (core.has_outer(rank)) comm.recv_fold(core.outer_of(rank), packed.bytes(), fold);
    const auto block = halve(comm, packed.bytes(), spare.bytes(), blocks, fold);
    copy_bytes(comm, block.first(own.size()), own);
    if (core.has_outer(rank)) comm.send(core.outer_of(rank), block.subspan(own.size()));
  }
  if (op == ReduceOp::mean) divide_by_ranks(comm, type, own);
}

}  // namespace shoal::detail

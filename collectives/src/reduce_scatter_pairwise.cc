// Pairwise-exchange reduce-scatter: every rank sends each other rank its part of that rank's chunk, receives P-1
// parts of its own, and combines all P at once along the canonical tree. The order of a sum is that tree, whatever
// the size, and the accumulator of an integer mean can be wider than the type, as no partial result travels.
//
// It goes in rounds of blocks, so that the parts stay in cache and scratch is bounded:
//
//     own chunk of rank r   |  block 0  |  block 1  |  block 2 |
//                              round 0     round 1     round 2
//
//     round:  for s = 1 .. P-1:   block of chunk r+s  --> rank r+s      rank r-s -->  block of chunk r, slot r-s
//             then                own block = tree(slot 0, ..., own part, ..., slot P-1)
//
// Invariant: entering round k, blocks 0 .. k-1 of `own` are final. `own` may be the rank's chunk of `in`: its block k
// is read and written in round k only, by this rank only, and no rank is sent its owner's chunk.
//
// Rounds follow from the largest chunk, which all ranks know; in the last ones a block may be empty. P-1 steps a
// round; a rank sends all chunks but its own, the bytes of the ring. Scratch: P-1 blocks.

#include <algorithm>

#include "algorithms.h"
#include "ring.h"
#include "scratch.h"

namespace shoal::detail {

void reduce_scatter_pairwise(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                             const Chunks& chunks, ReduceOp op, DataType type) {
  const Ring ring(comm);
  const std::uint64_t rounds = blocks_in(chunks.largest(), kPairwiseBlockBytes);
  const auto block = [](auto chunk, std::uint64_t round) { return block_of(chunk, round, kPairwiseBlockBytes); };

  const std::size_t slot_bytes = std::min(chunks.size(comm.rank()), kPairwiseBlockBytes);
  Scratch scratch(comm, slot_bytes * static_cast<std::size_t>(comm.size() - 1));
  ByRank<const std::byte*> parts(static_cast<std::size_t>(comm.size()));

  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto result = block(own, round);
    parts[static_cast<std::size_t>(comm.rank())] = block(chunks.slice(in, comm.rank()), round).data();
    for (int step = 1; step < comm.size(); ++step) {
      const int to = ring.ahead(step);
      const int from = ring.behind(step);
      const auto slot =
          scratch.bytes().subspan(static_cast<std::size_t>(step - 1) * slot_bytes, slot_bytes).first(result.size());
      comm.exchange(to, block(chunks.slice(in, to), round), from, slot);
      parts[static_cast<std::size_t>(from)] = slot.data();
    }
    combine_tree(comm, op, type, result, span_of(parts));
  }
}

}  // namespace shoal::detail

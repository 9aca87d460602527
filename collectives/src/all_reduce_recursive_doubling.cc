// Recursive-doubling all-reduce: all ranks climb the canonical tree at once, exchanging whole partial results.
//
//     P = 6, C = 4      4 > 0   5 > 1                      distance 4
//                       0 <> 2   1 <> 3                    distance 2
//                       0 <> 1   2 <> 3                    distance 1
//                       0 > 4   1 > 5                      the result
//
// Invariant: entering the level of distance d, each rank of the core holds the result over all ranks that are congruent
// to it modulo 2d. Both sides of an exchange combine the same two operands, that of the lower rank left, so all
// ranks end with the same bits.
//
// log2 C exchanges of the whole vector, two transfers more where P is no power of two: for small messages, which cost
// their number and not their size. Memory: the vector.

#include <utility>

#include "algorithms.h"
#include "core.h"
#include "scratch.h"

namespace shoal::detail {

void all_reduce_recursive_doubling(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
                                   ReduceOp op, DataType type) {
  const Core core(comm.size());
  const int rank = comm.rank();
  if (!core.holds(rank)) {
    comm.send(core.inner_of(rank), in);
    comm.recv(core.inner_of(rank), out);
    return;
  }

  const Fold fold = fold_kernel(op, type);
  Scratch scratch(comm, comm.size() == 1 ? 0 : in.size());
  std::span<std::byte> partial = out;
  std::span<std::byte> arriving = scratch.bytes();
  copy_bytes(comm, in, partial);
  if (core.has_outer(rank)) comm.recv_fold(core.outer_of(rank), partial, fold);
  for (int distance = core.size() / 2; distance >= 1; distance /= 2) {
    const int peer = rank ^ distance;
    comm.exchange(peer, partial, peer, arriving);
    if (peer < rank) std::swap(partial, arriving);
    fold_bytes(comm, fold, partial, arriving);
  }
  if (op == ReduceOp::mean) divide_by_ranks(comm, type, partial);
  copy_bytes(comm, partial, out);
  if (core.has_outer(rank)) comm.send(core.outer_of(rank), out);
}

}  // namespace shoal::detail

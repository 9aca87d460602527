// Recursive-doubling all-gather: what a rank has doubles in every level, near ranks first.
//
//     P = 4, what each rank has        rank 0   rank 1   rank 2   rank 3
//     at the start                     0...     .1..     ..2.     ...3
//     distance 1    0 <> 1   2 <> 3    01..     01..     ..23     ..23
//     distance 2    0 <> 2   1 <> 3    0123     0123     0123     0123
//
// Where P is no power of two, the first ranks work in pairs: the odd one hands its chunk to the even one, which takes
// part for both and hands it the whole vector at the end.
//
// Invariant: entering the level of distance d, an acting member has the chunks of members m .. m+d-1 (m: itself with
// its low bits cleared), which lie side by side.
//
// log2 C exchanges, two transfers more in pairs. Source: Thakur, Rabenseifner and Gropp 2005. Memory: none.

#include "algorithms.h"
#include "paired_core.h"

namespace shoal::detail {

void all_gather_recursive_doubling(Communicator& comm, std::span<std::byte> data, const Chunks& chunks) {
  const PairedCore core(comm.size());
  const int rank = comm.rank();
  if (core.stands_behind(rank)) {
    comm.send(rank - 1, chunks.slice(data, rank));
    comm.recv(rank - 1, data);
    return;
  }

  if (core.in_pair(rank)) comm.recv(rank + 1, chunks.slice(data, rank + 1));
  const auto of_members = [&](int first, int count) {
    const std::size_t begin = chunks.begin(core.first_rank(first));
    return data.subspan(begin, chunks.begin(core.first_rank(first + count)) - begin);
  };
  const int member = core.member_of(rank);
  for (int distance = 1; distance < core.size(); distance *= 2) {
    const int first = member & ~(distance - 1);
    const int peer = core.first_rank(member ^ distance);
    comm.exchange(peer, of_members(first, distance), peer, of_members(first ^ distance, distance));
  }
  if (core.in_pair(rank)) comm.send(rank + 1, data);
}

}  // namespace shoal::detail

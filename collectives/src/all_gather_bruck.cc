// Bruck's all-gather: what a rank has doubles in every step, whatever P is. Each rank gathers the chunks that follow
// its own, modulo P, and at the end turns them into rank order.
//
//     P = 5, what each rank has        rank 0   rank 1   rank 2   rank 3   rank 4
//     at the start                     0        1        2        3        4
//     distance 1, from the right       01       12       23       34       40
//     distance 2                       0123     1234     2340     3401     4012
//     distance 4, the missing one      01234    12340    23401    34012    40123
//
// Invariant: entering the step of distance d, a rank has chunks rank .. rank+d-1; it sends the first of them, as many
// as its receiver lacks, to rank-d, and receives as many from rank+d.
//
// ceil(log2 P) steps; a rank receives every foreign chunk once. Source: Bruck, Ho, Kipnis, Upfal and Weathersby 1997.
// Memory: the vector.

#include <algorithm>

#include "algorithms.h"
#include "ring.h"
#include "scratch.h"

namespace shoal::detail {

void all_gather_bruck(Communicator& comm, std::span<std::byte> data, const Chunks& chunks) {
  const Ring ring(comm);
  const int rank = comm.rank();
  const std::size_t own_begin = chunks.begin(rank);
  const std::size_t until_end = data.size() - own_begin;  // Where chunk 0 follows chunk P-1.
  /// Bytes of the first `count` chunks from the own one on.
  const auto bytes_of = [&](int count) {
    const int end = rank + count;
    return end <= comm.size() ? chunks.begin(end) - own_begin : until_end + chunks.begin(end - comm.size());
  };

  Scratch scratch(comm, data.size());
  const auto gathered = scratch.bytes();
  copy_bytes(comm, chunks.slice(data, rank), gathered);
  for (int distance = 1; distance < comm.size(); distance *= 2) {
    const int count = std::min(distance, comm.size() - distance);
    const auto arriving = gathered.subspan(bytes_of(distance), bytes_of(distance + count) - bytes_of(distance));
    comm.exchange(ring.behind(distance), gathered.first(bytes_of(count)), ring.ahead(distance), arriving);
  }
  copy_bytes(comm, gathered.first(until_end), data.subspan(own_begin));
  copy_bytes(comm, gathered.subspan(until_end), data.first(own_begin));
}

}  // namespace shoal::detail

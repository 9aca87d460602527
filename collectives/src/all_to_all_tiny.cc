// Tiny all-to-all: every rank publishes the chunks for all others in its flag line, and copies the one for itself out
// of each of theirs.
//
// 1 step, P-1 messages, the bytes of pairwise. Chunk q of every rank is as long as that of any other, so each rank
// knows where its own begins in a line.

#include "algorithms.h"
#include "arrivals.h"
#include "scratch.h"

namespace shoal::detail {

void all_to_all_tiny(Communicator& comm, std::span<const std::byte> in, const Chunks& in_chunks,
                     std::span<std::byte> out, const Chunks& out_chunks) {
  const int me = comm.rank();
  comm.arrive(in, in.size() - in_chunks.size(me));
  copy_bytes(comm, in_chunks.slice(in, me), out_chunks.slice(out, me));
  visit_others(comm, [&](int rank) {
    copy_bytes(comm, comm.await_arrival(rank, in_chunks.begin(me), in_chunks.size(me)), out_chunks.slice(out, rank));
  });
}

}  // namespace shoal::detail

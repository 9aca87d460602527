// Tiny all-gather: every rank publishes its chunk in its flag line, and copies those of all others.
//
// 1 step, P-1 messages; a rank's chunk is read by P-1 others.

#include "algorithms.h"
#include "arrivals.h"
#include "scratch.h"

namespace shoal::detail {

void all_gather_tiny(Communicator& comm, std::span<std::byte> data, const Chunks& chunks) {
  const auto own = chunks.slice(data, comm.rank());
  comm.arrive(own, read_by_all(comm, own.size()));
  visit_others(comm, [&](int rank) {
    copy_bytes(comm, comm.await_arrival(rank, 0, chunks.size(rank)), chunks.slice(data, rank));
  });
}

}  // namespace shoal::detail

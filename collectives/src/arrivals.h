#pragma once

#include <cstddef>
#include <span>

#include "shoal/runtime/communicator.h"

// What the tiny algorithms share: one round of arrivals, in which all that a rank contributes rides in its flag line.
//
//     rank 0   arrive [a0 a1 a2]          every rank then reads, of every other's line,
//     rank 1   arrive [b0 b1 b2]          what the operation needs of it
//     rank 2   arrive [c0 c1 c2]
//
// One step for any P: two lines cross between cores on the critical path, the own one out and the last other one in.
// Nobody waits for the others to have read (see Window in fabric.h).

namespace shoal::detail {

/// What all ranks of one call publish, at most.
inline constexpr std::size_t kTinyBytes = kArrivalBytes;

/// Awaits every other rank, the right neighbour first; `visit(rank)` must await that rank's arrival.
template <class Visit>
void visit_others(const Communicator& comm, Visit&& visit) {
  for (int rank = comm.rank() + 1; rank < comm.size(); ++rank) visit(rank);
  for (int rank = 0; rank < comm.rank(); ++rank) visit(rank);
}

/// How often the parts of a payload that others read are read, in bytes: all of it, by all of them.
inline std::uint64_t read_by_all(const Communicator& comm, std::size_t bytes) {
  return static_cast<std::uint64_t>(comm.size() - 1) * bytes;
}

}  // namespace shoal::detail

// Binomial broadcast: those who have the data double in every round. Ranks are counted from the root, modulo P:
//
//     P = 7   round 0: 0 > 1
//             round 1: 0 > 2   1 > 3
//             round 2: 0 > 4   1 > 5   2 > 6        (3 > 7 is beyond P)
//
// Invariant: entering the round of distance d, exactly the places below d have the data. A place's sender is itself
// without its highest bit, whatever P is; so no place is missed or sent to twice where P is no power of two, as
// happens when the peer is taken modulo the places involved.
//
// ceil(log2 P) rounds. A place sends the data once for each power of two d above it with place + d < P.

#include <bit>

#include "algorithms.h"
#include "ring.h"

namespace shoal::detail {

void broadcast_binomial(Communicator& comm, std::span<std::byte> data, int root) {
  const auto ranks = static_cast<unsigned>(comm.size());
  const auto place = static_cast<unsigned>(Ring(comm).behind(root));
  const auto rank_at = [&](unsigned at) { return static_cast<int>((at + static_cast<unsigned>(root)) % ranks); };

  if (place != 0) comm.recv(rank_at(place - std::bit_floor(place)), data);
  for (unsigned distance = std::bit_floor(place) * 2 + (place == 0 ? 1 : 0); place + distance < ranks; distance *= 2)
    comm.send(rank_at(place + distance), data);
}

}  // namespace shoal::detail

// Cyclic scatter, linear: the root deals its elements out like cards; rank r gets r, r+P, r+2P, ...
//
//     whole  a b c d e f g        P = 3: rank 0 gets a d g, rank 1 b e, rank 2 c f
//
// Each hand is picked into scratch, which holds the largest, and sent as one message: steps and bytes are those of
// scatter_linear. The hands are as large as the chunks of a Partition: the first n mod P have one element more.

#include <algorithm>
#include <cstring>

#include "algorithms.h"
#include "scratch.h"

namespace shoal::detail {
namespace {

/// Copies elements first, first + stride, ... of `whole` to `hand`, which has room for exactly those.
template <std::size_t kElementBytes>
void pick(std::span<const std::byte> whole, std::size_t first, std::size_t stride, std::span<std::byte> hand) {
  const std::size_t elements = hand.size() / kElementBytes;
  for (std::size_t i = 0; i < elements; ++i)
    std::memcpy(&hand[i * kElementBytes], &whole[(first + i * stride) * kElementBytes], kElementBytes);
}

void pick(const Communicator& comm, std::span<const std::byte> whole, std::size_t first, std::span<std::byte> hand,
          std::size_t element_bytes) {
  if (comm.phantom()) return;
  const auto stride = static_cast<std::size_t>(comm.size());
  switch (element_bytes) {
    case 1:
      return pick<1>(whole, first, stride, hand);
    case 2:
      return pick<2>(whole, first, stride, hand);
    case 4:
      return pick<4>(whole, first, stride, hand);
    default:
      return pick<8>(whole, first, stride, hand);
  }
}

}  // namespace

void scatter_cyclic_linear(Communicator& comm, std::span<const std::byte> whole, std::span<std::byte> own,
                           std::size_t element_bytes) {
  const Partition hands(whole.size() / element_bytes, comm.size());
  pick(comm, whole, static_cast<std::size_t>(comm.rank()), own, element_bytes);

  Scratch scratch(comm, comm.size() == 1 ? 0 : hands.size(0) * element_bytes);
  for (int to = 0; to < comm.size(); ++to) {
    if (to == comm.rank()) continue;
    const auto hand = scratch.bytes().first(hands.size(to) * element_bytes);
    pick(comm, whole, static_cast<std::size_t>(to), hand, element_bytes);
    comm.send(to, hand);
  }
}

}  // namespace shoal::detail

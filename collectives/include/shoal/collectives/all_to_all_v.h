#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void all_to_all_v(Communicator& comm, std::span<const std::byte> in, std::span<const std::size_t> send_counts,
                  std::span<std::byte> out, std::span<const std::size_t> receive_counts, DataType type,
                  const Options& options);
}

/// all_to_all in chunks of any sizes: this rank sends send_counts[q] elements to rank q and receives receive_counts[q]
/// from it, 0 too. Both lists have one entry a rank; `in` has the sum of the one, cut in rank order, and `out` the sum
/// of the other, joined in rank order.
///
/// What one rank sends another must be what that one receives: the ranks' lists are each other's transposes. Every pair
/// exchanges a message in each direction, also an empty one, so a pair whose entries differ is found whatever the sums
/// are.
///
/// Errors: see Options. `invalid_argument` for a list that has not P entries or does not add up to the size of its
/// buffer, for own entries in the two that differ, and for an `out` that overlaps `in`. A pair whose entries differ is
/// a `mismatch`, which names both ranks and both lengths in bytes.
///
/// Cost, by pairwise: P-1 steps; a rank sends and receives all but its own chunk.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void all_to_all_v(Communicator& comm, const In& in, std::span<const std::size_t> send_counts, Out&& out,
                  std::span<const std::size_t> receive_counts, Options options = {}) {
  detail::all_to_all_v(comm, detail::input_bytes(in), send_counts, detail::output_bytes(out), receive_counts,
                       kDataType<ElementOf<In>>, options);
}

}  // namespace shoal

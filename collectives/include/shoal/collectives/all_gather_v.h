#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void all_gather_v(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
                  std::span<const std::size_t> counts, DataType type, const Options& options);
}

/// all_gather with chunks of any sizes: rank r gives counts[r] elements, 0 too. `counts` is the same list on every
/// rank, one entry a rank; `in` has the rank's own, and `out` the sum of all, in rank order. `in` may be exactly its
/// part of `out`.
///
/// Errors: see Options. `invalid_argument` for `counts` that has not P entries or does not add up to the size of `out`,
/// for an `in` of another size than its entry, and for one that overlaps `out` otherwise. Lists that differ between
/// ranks are a `mismatch`, which names two neighbours and what each took a chunk for.
///
/// Cost, by ring: P-1 steps; a rank sends S - C(right neighbour) and receives S - C(r).
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void all_gather_v(Communicator& comm, const In& in, Out&& out, std::span<const std::size_t> counts,
                  Options options = {}) {
  detail::all_gather_v(comm, detail::input_bytes(in), detail::output_bytes(out), counts, kDataType<ElementOf<In>>,
                       options);
}

}  // namespace shoal

#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void scatter_v(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
               std::span<const std::size_t> counts, DataType type, int root, const Options& options);
}

/// scatter in chunks of any sizes: rank r gets counts[r] elements, 0 too. At the root `counts` has one entry a rank and
/// `in` the sum of them, cut in rank order; elsewhere `in` is empty, and `counts` may be: of a list that is given the
/// rank's own entry must be the size of `out`.
///
/// Errors: see Options. `invalid_argument` for a `root` that is no rank, an `in` that is not empty off the root, a list
/// that has not P entries, an `out` of another size than the entry in it; at the root for `counts` that does not add up
/// to the size of `in`, and for an `out` that overlaps it. A rank that expects another size than the root's list says
/// is a `mismatch`, which names both and their bytes, of 0 too.
///
/// Cost, by linear: the root sends S - C(root) in P-1 steps; the others receive C(r) in one.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void scatter_v(Communicator& comm, const In& in, Out&& out, std::span<const std::size_t> counts, int root = 0,
               Options options = {}) {
  detail::scatter_v(comm, detail::input_bytes(in), detail::output_bytes(out), counts, kDataType<ElementOf<In>>, root,
                    options);
}

}  // namespace shoal

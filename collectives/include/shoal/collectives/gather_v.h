#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void gather_v(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
              std::span<const std::size_t> counts, DataType type, int root, const Options& options);
}

/// gather of chunks of any sizes: rank r gives counts[r] elements, 0 too. At the root `counts` has one entry a rank and
/// `out` the sum of them, joined in rank order; elsewhere `out` is empty, and `counts` may be: of a list that is given
/// the rank's own entry must be the size of `in`.
///
/// Errors: see Options. `invalid_argument` for a `root` that is no rank, an `out` that is not empty off the root, a
/// list that has not P entries, an `in` of another size than the entry in it; at the root for `counts` that does not
/// add up to the size of `out`, and for an `in` that overlaps it. A rank that gives another size than the root's list
/// says is a `mismatch`, which names both and their bytes; a rank with nothing to give still tells the root so, so that
/// this is found of 0, too.
///
/// Cost, by linear: the root receives S - C(root) in P-1 steps; the others send C(r) in one.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void gather_v(Communicator& comm, const In& in, Out&& out, std::span<const std::size_t> counts, int root = 0,
              Options options = {}) {
  detail::gather_v(comm, detail::input_bytes(in), detail::output_bytes(out), counts, kDataType<ElementOf<In>>, root,
                   options);
}

}  // namespace shoal

#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void gather(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type, int root,
            const Options& options);
}

/// Joins the ranks' `in`, in rank order, into `out` of the root. `in` is the rank's chunk of
/// Partition(out.size() at the root, P), uneven ones too; `out` is empty off the root.
///
/// Errors: see Options. `invalid_argument` for a `root` that is no rank, an `out` that is not empty off the root; at
/// the root for an `in` that has not its chunk's size or overlaps `out`. Off the root an `in` of another size than its
/// chunk is a `mismatch`: only the root knows the whole.
///
/// Cost, by default linear: the root receives S - C(root) in P-1 steps; the others send C(r) in one. On request
/// binomial: ceil(log2 P) steps at the root; chunks pass through other ranks.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void gather(Communicator& comm, const In& in, Out&& out, int root = 0, Options options = {}) {
  detail::gather(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, root, options);
}

}  // namespace shoal

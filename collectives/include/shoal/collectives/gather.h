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
/// Partition(out.size() at the root, P), uneven ones too; `out` is empty off the root. They do not overlap. The
/// root receives the vector less its own chunk. Algorithms: linear (P-1 steps; default), binomial (ceil(log2 P)).
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void gather(Communicator& comm, const In& in, Out&& out, int root = 0, Options options = {}) {
  detail::gather(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, root, options);
}

}  // namespace shoal

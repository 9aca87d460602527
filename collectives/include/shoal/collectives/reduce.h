#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void reduce(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type, ReduceOp op,
            int root, const Options& options);
}

/// Combines the ranks' `in`, element by element, into `out` of the root (order and rounding as all_reduce).
/// `in` has the same size on every rank and is not modified; `out` has it at the root and is empty elsewhere. They
/// do not overlap. Algorithms: pairwise (default), binomial (default up to 4 KiB), recursive_halving, ring.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void reduce(Communicator& comm, const In& in, Out&& out, ReduceOp op, int root = 0, Options options = {}) {
  detail::reduce(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, op, root, options);
}

}  // namespace shoal

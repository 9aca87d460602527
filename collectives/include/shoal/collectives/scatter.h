#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void scatter(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type, int root,
             const Options& options);
void scatter_cyclic(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type,
                    int root, const Options& options);
}  // namespace detail

/// Hands the root's `in` out in consecutive chunks: `out` of each rank gets its chunk of
/// Partition(in.size() at the root, P), uneven ones too, and has its size; `in` is empty off the root. They do
/// not overlap. The root sends the vector less its chunk. Algorithms: linear (P-1 steps; default), binomial (log2 P).
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void scatter(Communicator& comm, const In& in, Out&& out, int root = 0, Options options = {}) {
  detail::scatter(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, root, options);
}

/// Deals the root's `in` out like cards: rank r gets in[r], in[r+P], in[r+2P], ... Sizes, bytes and steps are
/// those of scatter. Algorithms: linear.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void scatter_cyclic(Communicator& comm, const In& in, Out&& out, int root = 0, Options options = {}) {
  detail::scatter_cyclic(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, root,
                         options);
}

}  // namespace shoal

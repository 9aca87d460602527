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
/// Partition(in.size() at the root, P), uneven ones too, and has its size; `in` is empty off the root.
///
/// Errors: see Options. `invalid_argument` for a `root` that is no rank, an `in` that is not empty off the root; at the
/// root for an `out` that has not its chunk's size or overlaps `in`. Off the root an `out` of another size than its
/// chunk is a `mismatch`: only the root knows the whole.
///
/// Cost, by default linear: the root sends S - C(root) in P-1 steps; the others receive C(r) in one. On request
/// binomial: ceil(log2 P) steps at the root; chunks pass through other ranks.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void scatter(Communicator& comm, const In& in, Out&& out, int root = 0, Options options = {}) {
  detail::scatter(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, root, options);
}

/// Deals the root's `in` out like cards: rank r gets in[r], in[r+P], in[r+2P], ... Sizes, errors and cost are those of
/// scatter by linear, the one algorithm here.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void scatter_cyclic(Communicator& comm, const In& in, Out&& out, int root = 0, Options options = {}) {
  detail::scatter_cyclic(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, root,
                         options);
}

}  // namespace shoal

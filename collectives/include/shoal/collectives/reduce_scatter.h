#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/collectives/options.h"
#include "shoal/collectives/partition.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void reduce_scatter(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type,
                    ReduceOp op, const Options& options);
void reduce_scatter(Communicator& comm, std::span<std::byte> data, DataType type, ReduceOp op, const Options& options);
}  // namespace detail

/// Combines the ranks' `data`, element by element (order and rounding as all_reduce), and leaves to each rank its
/// own chunk of Partition(data.size(), P), in place: returns that part of `data`. What the other parts hold
/// afterwards is unspecified. All ranks pass the same size; each sends the vector less its own chunk.
/// Algorithms: pairwise (default), recursive_halving (default up to 4 KiB where P is a power of two), tiny (one step;
/// default up to 112 bytes), ring.
template <OutputRange Data>
std::span<ElementOf<Data>> reduce_scatter(Communicator& comm, Data&& data, ReduceOp op, Options options = {}) {
  detail::reduce_scatter(comm, detail::output_bytes(data), kDataType<ElementOf<Data>>, op, options);
  const std::span<ElementOf<Data>> whole(std::ranges::data(data), std::ranges::size(data));
  return Partition(whole.size(), comm.size()).slice(whole, comm.rank());
}

/// The same from `in`, which is not modified, to `out`, which has the size of the rank's own chunk of
/// Partition(in.size(), P) and does not overlap `in`.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void reduce_scatter(Communicator& comm, const In& in, Out&& out, ReduceOp op, Options options = {}) {
  detail::reduce_scatter(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, op,
                         options);
}

}  // namespace shoal

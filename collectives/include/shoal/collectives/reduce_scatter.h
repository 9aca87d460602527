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
/// afterwards is unspecified. All ranks pass the same size.
///
/// Errors: see Options. `invalid_argument` for a reduction that the type does not have (as all_reduce).
///
/// Cost, by default:
/// - tiny, for S up to 112 bytes and P up to 64: one step; a rank sends S - C(r) and receives (P-1) C(r).
/// - direct, for all else up to 64 ranks: a step for each 64 KiB of the longest chunk (less with more than three ranks:
///   256 KiB / (P+1)), and one more where a buffer of the shared heap is shown; bytes as tiny.
/// - recursive_halving, for more ranks and S up to 4 KiB, where P is a power of two: log2 P steps; a rank sends S -
///   C(r) and receives P-1 chunks. Not where partial results are wider than the type (see all_reduce).
/// - pairwise, else: P-1 steps for each 32 KiB, or part, of the longest chunk; bytes as tiny.
///
/// On request also ring, whose order differs by chunk.
template <OutputRange Data>
std::span<ElementOf<Data>> reduce_scatter(Communicator& comm, Data&& data, ReduceOp op, Options options = {}) {
  detail::reduce_scatter(comm, detail::output_bytes(data), kDataType<ElementOf<Data>>, op, options);
  const std::span<ElementOf<Data>> whole(std::ranges::data(data), std::ranges::size(data));
  return Partition(whole.size(), comm.size()).slice(whole, comm.rank());
}

/// The same from `in`, which is not modified, to `out`, which has the size of the rank's own chunk of
/// Partition(in.size(), P). `invalid_argument` also for an `out` of another size, or one that overlaps `in`.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void reduce_scatter(Communicator& comm, const In& in, Out&& out, ReduceOp op, Options options = {}) {
  detail::reduce_scatter(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, op,
                         options);
}

}  // namespace shoal

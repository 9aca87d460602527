#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void all_reduce(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type, ReduceOp op,
                const Options& options);
void all_reduce(Communicator& comm, std::span<std::byte> data, DataType type, ReduceOp op, const Options& options);
}  // namespace detail

/// Combines the ranks' `data`, element by element, and leaves the same bits on every rank. All pass the same size.
///
/// Values are combined along one tree over ranks, whatever the message's size or alignment: with D the largest
/// power of two below P, rank r first with rank r+D where that exists, then D is halved; the lower rank stands left.
/// `mean` of floating-point numbers is that sum divided by P; of integers it is exact, through a wider accumulator,
/// rounded toward zero. Integer sums and products wrap. `min` and `max`: NaN on any rank gives NaN, and -0 is
/// below +0. `band`, `bor`, `bxor` are for integers only.
///
/// Algorithms: pairwise (default; a rank sends the vector twice, less two chunks), recursive_doubling (default up to
/// 4 KiB; it sends it log2 P times), tiny (default up to 112 bytes; it sends it P-1 times, in one step),
/// recursive_halving, binomial: the same bits. ring: its order differs by chunk.
template <OutputRange Data>
void all_reduce(Communicator& comm, Data&& data, ReduceOp op, Options options = {}) {
  detail::all_reduce(comm, detail::output_bytes(data), kDataType<ElementOf<Data>>, op, options);
}

/// The same from `in`, which is not modified, to `out` of the same size, which does not overlap it.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void all_reduce(Communicator& comm, const In& in, Out&& out, ReduceOp op, Options options = {}) {
  detail::all_reduce(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, op, options);
}

}  // namespace shoal

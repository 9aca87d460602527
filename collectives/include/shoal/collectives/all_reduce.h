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
/// below +0. `band`, `bor`, `bxor` are for integers and bool only.
///
/// Errors: see Options. `invalid_argument` for a reduction that the type does not have: band, bor and bxor of
/// floating-point numbers; sum, prod and mean of bool.
///
/// Cost, by default:
/// - tiny, for S up to 112 bytes and P up to 64: one step; a rank sends and receives (P-1) S.
/// - slots, for S up to 16 KiB and P up to 64: the same.
/// - direct, for all else up to 64 ranks: a step for each 64 KiB of the longest chunk (less with more than three ranks:
///   256 KiB / (P+1)), and one more; a rank sends and receives S + (P-2) C(r), 2 S (P-1)/P where P divides the count.
/// - recursive_doubling, for more ranks and S up to 4 KiB: log2 P steps, each sending and receiving S. Where P is no
///   power of two, those of the power of two below, and on some ranks two more, of which one sends and one receives S.
///   Not where partial results are wider than the type (mean of integers; sum, prod and mean of bf16 and f16): there
///   pairwise.
/// - pairwise, else: P-1 steps for each 32 KiB, or part, of the longest chunk, and P-1; a rank sends 2 S - C(r) -
///   C(right neighbour) and receives S + (P-2) C(r), both 2 S (P-1)/P where P divides the count.
///
/// On request also recursive_halving and binomial, of the same bits; and ring, whose order differs by chunk.
template <OutputRange Data>
void all_reduce(Communicator& comm, Data&& data, ReduceOp op, Options options = {}) {
  detail::all_reduce(comm, detail::output_bytes(data), kDataType<ElementOf<Data>>, op, options);
}

/// The same from `in`, which is not modified, to `out`. `invalid_argument` also for an `out` of another size, or one
/// that overlaps `in`.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void all_reduce(Communicator& comm, const In& in, Out&& out, ReduceOp op, Options options = {}) {
  detail::all_reduce(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, op, options);
}

}  // namespace shoal

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
/// `in` has the same size on every rank and is not modified; `out` has it at the root and is empty elsewhere.
///
/// Errors: see Options. `invalid_argument` for a `root` that is no rank, a reduction that the type does not have (as
/// all_reduce), an `out` that is not empty off the root; at the root for one of another size than `in`, or that
/// overlaps it.
///
/// Cost, by default:
/// - binomial, for S up to 4 KiB: at most ceil(log2 P) steps at the root, each receiving S; the others send S once and
///   receive it up to as often. Not where partial results are wider than the type (see all_reduce).
/// - direct, for S above 16 KiB and P up to 64: a step for each 64 KiB of the longest chunk (less with more than three
///   ranks: 256 KiB / (P+1)), and one more.
/// - pairwise, else: P-1 steps for each 32 KiB, or part, of the longest chunk, then P-1 at the root and one elsewhere.
///
/// By both of these a rank sends S and receives (P-1) C(r); the root sends S - C(root) and receives S + (P-2) C(root).
///
/// On request also recursive_halving, of the same bits, and ring, whose order differs by chunk.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void reduce(Communicator& comm, const In& in, Out&& out, ReduceOp op, int root = 0, Options options = {}) {
  detail::reduce(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, op, root, options);
}

}  // namespace shoal

#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void all_to_all(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type,
                const Options& options);
}

/// Sends chunk q of each rank's `in` to rank q, and joins what arrives, in rank order, in `out`: a transposition of
/// chunks. Chunks are those of Partition(in.size(), P); all ranks pass the same size of `in`, and `out` has P times
/// the size of the rank's own chunk, which is in.size() where P divides it.
///
/// Errors: see Options. `invalid_argument` for an `out` of another size, or one that overlaps `in`.
///
/// Cost: a rank sends S - C(r), S being the size of `in`, and receives (P-1) C(r). By default, up to 64 ranks, in one
/// step, tiny, for S up to 112 bytes; else direct, in a step for each 64 KiB of the longest chunk (less with more than
/// three ranks: 256 KiB / (P+1)), and one more where a buffer of the shared heap is shown. For more ranks in P-1 steps,
/// pairwise.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void all_to_all(Communicator& comm, const In& in, Out&& out, Options options = {}) {
  detail::all_to_all(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, options);
}

}  // namespace shoal

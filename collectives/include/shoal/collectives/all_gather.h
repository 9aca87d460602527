#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void all_gather(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type,
                const Options& options);
}

/// Joins the ranks' `in`, in rank order, into `out` of every rank. `in` is the rank's chunk of
/// Partition(out.size(), P), uneven ones too, and `out` has the same size on every rank. `in` may be exactly that
/// part of `out`.
///
/// Errors: see Options. `invalid_argument` for an `in` that has not its chunk's size, or overlaps `out` otherwise.
///
/// Cost: a rank sends P-1 chunks and receives S - C(r). By default, up to 64 ranks, in one step, tiny, where no chunk
/// has more than 112 bytes; else direct, in a step for each 64 KiB of the longest chunk, and one more where a buffer of
/// the shared heap is shown. For more ranks in ceil(log2 P) steps up to 4 KiB, recursive_doubling where P is a power of
/// two and bruck where it is none; else in P-1 steps, ring.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void all_gather(Communicator& comm, const In& in, Out&& out, Options options = {}) {
  detail::all_gather(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, options);
}

}  // namespace shoal

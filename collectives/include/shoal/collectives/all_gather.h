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
/// part of `out`; any other overlap is refused. Algorithms: ring (P-1 steps; a rank sends the vector less one chunk);
/// up to 4 KiB recursive_doubling where P is a power of two, else bruck (ceil(log2 P) steps); tiny (one step) where no
/// chunk has more than 112 bytes.
template <InputRange In, OutputRange Out>
requires SameElement<In, Out>
void all_gather(Communicator& comm, const In& in, Out&& out, Options options = {}) {
  detail::all_gather(comm, detail::input_bytes(in), detail::output_bytes(out), kDataType<ElementOf<In>>, options);
}

}  // namespace shoal

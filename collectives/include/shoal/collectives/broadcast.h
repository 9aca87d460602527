#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void broadcast(Communicator& comm, std::span<std::byte> data, DataType type, int root, const Options& options);
}

/// Makes `data` of every rank equal to the root's. All ranks pass the same size. ceil(log2 P) rounds; the ranks
/// together send P-1 times the vector. Algorithms: binomial.
template <OutputRange Data>
void broadcast(Communicator& comm, Data&& data, int root = 0, Options options = {}) {
  detail::broadcast(comm, detail::output_bytes(data), kDataType<ElementOf<Data>>, root, options);
}

}  // namespace shoal

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

/// Makes `data` of every rank equal to the root's. All ranks pass the same size; together they send it P-1 times.
/// Algorithms: binomial (ceil(log2 P) rounds), pipelined (a chain of 32 KiB blocks; default from 512 KiB on).
template <OutputRange Data>
void broadcast(Communicator& comm, Data&& data, int root = 0, Options options = {}) {
  detail::broadcast(comm, detail::output_bytes(data), kDataType<ElementOf<Data>>, root, options);
}

}  // namespace shoal

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

/// Makes `data` of every rank equal to the root's. All ranks pass the same size.
///
/// Errors: see Options. `invalid_argument` for a `root` that is no rank.
///
/// Cost: every rank but the root receives S, and together they send (P-1) S. By default
/// - binomial: ceil(log2 P) rounds, in each of which the root sends S, and others do once they have it. The root does
///   not wait for the others, up to what a channel holds;
/// - direct, for S above 16 KiB and P up to 64: a step for each 64 KiB, and one more where the root's data is in the
///   shared heap; the root sends (P-1) S;
/// - pipelined, for more ranks and S from 512 KiB on: a chain of blocks of 32 KiB. A rank makes a step for each
///   block and at most one more, and sends S once, the last of the chain nothing.
template <OutputRange Data>
void broadcast(Communicator& comm, Data&& data, int root = 0, Options options = {}) {
  detail::broadcast(comm, detail::output_bytes(data), kDataType<ElementOf<Data>>, root, options);
}

}  // namespace shoal

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "chunks.h"
#include "kernels.h"
#include "shoal/runtime/communicator.h"

// Every algorithm, each in the file of its name. They move bytes with the communicator's members, inside
// perform(); arguments have been checked. Their pictures and costs are in their files and in docs/algorithms.md.

namespace shoal::detail {

void barrier_dissemination(Communicator& comm);

void broadcast_binomial(Communicator& comm, std::span<std::byte> data, int root);

/// `own`: this rank's chunk. `whole`: all chunks, at the root only.
void gather_linear(Communicator& comm, std::span<const std::byte> own, std::span<std::byte> whole, const Chunks& chunks,
                   int root);
/// Off the root nothing needs to be known of the other ranks' chunks.
void gather_linear_off_root(Communicator& comm, std::span<const std::byte> own, int root);

void scatter_linear(Communicator& comm, std::span<const std::byte> whole, std::span<std::byte> own,
                    const Chunks& chunks, int root);
void scatter_linear_off_root(Communicator& comm, std::span<std::byte> own, int root);

/// At the root; off it, scatter_linear_off_root receives.
void scatter_cyclic_linear(Communicator& comm, std::span<const std::byte> whole, std::span<std::byte> own,
                           std::size_t element_bytes);

/// `in`: the chunks to send, by receiver; `out`: the chunks to receive, by sender.
void all_to_all_pairwise(Communicator& comm, std::span<const std::byte> in, const Chunks& in_chunks,
                         std::span<std::byte> out, const Chunks& out_chunks);

/// In: each rank has its own chunk of `data`. Out: all have all.
void all_gather_ring(Communicator& comm, std::span<std::byte> data, const Chunks& chunks);

/// Combines the ranks' `in` and leaves this rank's chunk in `own`, which may be that chunk of `in`. Nothing else is
/// written.
void reduce_scatter_ring(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                         const Chunks& chunks, ReduceOp op, DataType type);
void reduce_scatter_pairwise(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                             const Chunks& chunks, ReduceOp op, DataType type);
/// What pairwise exchanges at once: so many bytes of each rank's chunk. Ranks must agree on it.
inline constexpr std::size_t kPairwiseBlockBytes = std::size_t{32} << 10;
/// Rounds of blocks that the largest chunk takes, at least one.
constexpr std::uint64_t pairwise_rounds(std::uint64_t largest_chunk_bytes) noexcept {
  return largest_chunk_bytes == 0 ? 1 : (largest_chunk_bytes - 1) / kPairwiseBlockBytes + 1;
}

/// By one of the two above.
void reduce_scatter_by(Algorithm algorithm, Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                       const Chunks& chunks, ReduceOp op, DataType type);

}  // namespace shoal::detail

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

/// Whether ranks may show a caller's memory, and have others write into it, where it lies: wherever that is, only in
/// the shared heap, or not at all: then it is always copied.
enum class Showing : std::uint8_t { in_place, in_heap, copies };
/// Algorithms in which ranks go to what the others show (notices.h).
constexpr bool shows(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::slots || algorithm == Algorithm::direct;
}

void barrier_dissemination(Communicator& comm);
void barrier_tiny(Communicator& comm);

void broadcast_binomial(Communicator& comm, std::span<std::byte> data, int root);
void broadcast_direct(Communicator& comm, std::span<std::byte> data, int root, Showing showing);
void broadcast_pipelined(Communicator& comm, std::span<std::byte> data, int root);
/// What pipelined passes on at once. Ranks must agree on it.
inline constexpr std::size_t kBroadcastBlockBytes = std::size_t{32} << 10;

/// `out` is empty off the root, where it may be the same bytes as `in` if the root is rank 0.
void reduce_binomial(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, int root, ReduceOp op,
                     DataType type);

/// `out` is empty off the root.
void reduce_direct(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, int root, ReduceOp op,
                   DataType type, Showing showing);

/// `own`: this rank's chunk. `whole`: all chunks, at the root only.
void gather_linear(Communicator& comm, std::span<const std::byte> own, std::span<std::byte> whole, const Chunks& chunks,
                   int root);
/// Off the root nothing needs to be known of the other ranks' chunks.
void gather_linear_off_root(Communicator& comm, std::span<const std::byte> own, int root);
/// `chunks` are those of a Partition. At the root.
void gather_binomial(Communicator& comm, std::span<const std::byte> own, std::span<std::byte> whole,
                     const Chunks& chunks, int root);
void gather_binomial_off_root(Communicator& comm, std::span<const std::byte> own, std::size_t element_bytes, int root);

void scatter_linear(Communicator& comm, std::span<const std::byte> whole, std::span<std::byte> own,
                    const Chunks& chunks, int root);
void scatter_linear_off_root(Communicator& comm, std::span<std::byte> own, int root);
/// `chunks` are those of a Partition. At the root.
void scatter_binomial(Communicator& comm, std::span<const std::byte> whole, std::span<std::byte> own,
                      const Chunks& chunks, int root);
void scatter_binomial_off_root(Communicator& comm, std::span<std::byte> own, std::size_t element_bytes, int root);

/// At the root; off it, scatter_linear_off_root receives.
void scatter_cyclic_linear(Communicator& comm, std::span<const std::byte> whole, std::span<std::byte> own,
                           std::size_t element_bytes);

/// `in`: the chunks to send, by receiver; `out`: the chunks to receive, by sender.
void all_to_all_pairwise(Communicator& comm, std::span<const std::byte> in, const Chunks& in_chunks,
                         std::span<std::byte> out, const Chunks& out_chunks);

void all_to_all_tiny(Communicator& comm, std::span<const std::byte> in, const Chunks& in_chunks,
                     std::span<std::byte> out, const Chunks& out_chunks);

void all_to_all_direct(Communicator& comm, std::span<const std::byte> in, const Chunks& in_chunks,
                       std::span<std::byte> out, const Chunks& out_chunks, Showing showing);

/// In: each rank has its own chunk of `data`. Out: all have all.
void all_gather_ring(Communicator& comm, std::span<std::byte> data, const Chunks& chunks);
void all_gather_recursive_doubling(Communicator& comm, std::span<std::byte> data, const Chunks& chunks);
void all_gather_bruck(Communicator& comm, std::span<std::byte> data, const Chunks& chunks);
void all_gather_tiny(Communicator& comm, std::span<std::byte> data, const Chunks& chunks);
/// `own`: this rank's chunk, which may be that of `data`.
void all_gather_direct(Communicator& comm, std::span<const std::byte> own, std::span<std::byte> data,
                       const Chunks& chunks, Showing showing);

/// `in` may be the same bytes as `out`.
void all_reduce_recursive_doubling(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
                                   ReduceOp op, DataType type);

void all_reduce_tiny(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, ReduceOp op,
                     DataType type);

void all_reduce_slots(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, ReduceOp op,
                      DataType type, Showing showing);
void all_reduce_direct(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, ReduceOp op,
                       DataType type, Showing showing);

/// Combines the ranks' `in` and leaves this rank's chunk in `own`, which may be that chunk of `in`. Nothing else is
/// written.
void reduce_scatter_ring(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                         const Chunks& chunks, ReduceOp op, DataType type);
void reduce_scatter_pairwise(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                             const Chunks& chunks, ReduceOp op, DataType type);
void reduce_scatter_recursive_halving(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                                      const Chunks& chunks, ReduceOp op, DataType type);
void reduce_scatter_tiny(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                         const Chunks& chunks, ReduceOp op, DataType type);
void reduce_scatter_direct(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                           const Chunks& chunks, ReduceOp op, DataType type, Showing showing);
/// What pairwise exchanges at once: so many bytes of each rank's chunk. Ranks must agree on it.
inline constexpr std::size_t kPairwiseBlockBytes = std::size_t{32} << 10;
/// Blocks that so many bytes take, at least one.
constexpr std::uint64_t blocks_in(std::uint64_t bytes, std::size_t block_bytes) noexcept {
  return bytes == 0 ? 1 : (bytes - 1) / block_bytes + 1;
}

/// By one of those above.
void reduce_scatter_by(Algorithm algorithm, Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                       const Chunks& chunks, ReduceOp op, DataType type);

}  // namespace shoal::detail

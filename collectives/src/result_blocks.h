#pragma once

#include "chunk_blocks.h"

namespace shoal::detail {

/// Blocks of a result, each formed by the rank that owns its chunk, on their way into the `out` of every receiver:
///
///     which can be reached    the owner writes or copies it there, in the round in which it forms it
///     which cannot            the owner stages it, the receiver copies it in the next round
///
/// Invariant: others write into a receiver's `out` from its first arrival in the call on, and block k is all there once
/// they have arrived in round k+1. `in` may be the same memory: of a chunk, only its owner reads the others' operands,
/// and writes a block after it has read it.
class ResultBlocks {
 public:
  static constexpr int kEverybody = -1;

  /// `out`: this rank's, empty if it receives nothing. `receiver`: a rank, or kEverybody.
  ResultBlocks(Communicator& comm, std::span<std::byte> out, const Chunks& chunks, const ChunkBlocks& blocks,
               int receiver, Showing showing)
      : comm_(comm),
        out_(out),
        chunks_(chunks),
        blocks_(blocks),
        receiver_(receiver),
        place_(receives(comm.rank()) ? place_to_show(comm, out, showing) : std::nullopt),
        targets_(comm.size()),
        copied_(comm.size()) {}

  /// Enters what this rank has staged in the round before, and where others may write.
  void show(Notice& notice) const {
    notice.result = staged_;
    notice.out = place_.value_or(0);
  }

  /// Of round 0, in which all have arrived: whether results need no staging.
  bool need_no_staging(const Notices& notices) const;

  /// In round `round`, in which all have arrived: combines this rank's block, and hands it on.
  void form(const Notices& notices, std::uint64_t round, ReduceOp op, DataType type);

  /// In the round after `round`, in which all have arrived: takes the blocks of the others that they staged.
  void take(const Notices& notices, std::uint64_t round);

 private:
  bool receives(int rank) const noexcept { return receiver_ == kEverybody || receiver_ == rank; }
  /// Of a chunk, that block's place in the vector, in bytes.
  std::uint64_t begin_of(int chunk, std::uint64_t round) const noexcept {
    return chunks_.begin(chunk) + round * blocks_.block_bytes();
  }
  std::size_t bytes_of(int chunk, std::uint64_t round) const noexcept;
  void find_targets(const Notices& notices, std::uint64_t round, std::size_t bytes);
  /// Hands a piece of the block on that has just been formed at `piece`.
  void hand_on(std::span<const std::byte> piece, std::size_t begin);

  Communicator& comm_;
  std::span<std::byte> out_;
  const Chunks& chunks_;
  const ChunkBlocks& blocks_;
  int receiver_;
  std::optional<Place> place_;
  Place staged_ = 0;
  /// Filled anew in each round, without an allocation.
  template <class T>
  struct List {
    explicit List(int ranks) : entries(static_cast<std::size_t>(ranks) + 1) {}
    void add(const T& entry) { entries[count++] = entry; }
    std::span<const T> all() const { return {entries.data(), count}; }
    ByRank<T> entries;
    std::size_t count = 0;
  };

  // Of one round, where this rank's block goes:
  struct Copied {
    int rank;
    Place place;
  };
  List<std::byte*> targets_;  // memory that it reaches, the first of which it forms it in if there is any,
  List<Copied> copied_;       // and what it can only copy to.
};

/// All rounds of it: shows `in`, combines the own chunk of what all show, and hands it to `receiver`, or kEverybody.
void combine_blocks(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, int receiver,
                    ReduceOp op, DataType type, Showing showing);

}  // namespace shoal::detail

#pragma once

#include "chunk_blocks.h"

namespace shoal::detail {

/// Blocks of a result, each formed by the rank that owns its chunk, on their way into the `out` of every receiver:
///
///     which can be reached    the owner writes it there, in the round in which it forms it
///     which cannot            the owner stages it, the receiver copies it in the next round; if all is shown where it lies,
///                             out of the owner's `out` or scratch, and the call ends with one round more
///
/// Invariant: others write into a receiver's `out` from its first arrival in the call on, and block k is all there once
/// they have arrived in round k+1. `in` may be the same memory: of a chunk, only its owner reads the others' operands, and
/// writes a block after it has read it.
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
        place_(receives(comm.rank()) ? place_to_write(comm, out, showing) : std::nullopt),
        stays_(showing == Showing::in_place && comm.others_copy()),
        targets_(static_cast<std::size_t>(comm.size()) + 1) {}

  /// Enters what this rank has staged in the round before, and where others may write.
  void show(Notice& notice) const {
    notice.result = shown_;
    notice.out = place_.value_or(0);
    notice.result_in_place = stays_ ? 1 : 0;
  }

  /// Of round 0, in which all have arrived: whether results need no staging.
  bool need_no_staging(const Notices& notices);

  /// In round `round`, in which all have arrived: combines this rank's block, and hands it on.
  void form(const Notices& notices, std::uint64_t round, ReduceOp op, DataType type);

  /// After the last round: waits until what stayed where it was formed has been taken.
  void close(Notices& notices) const {
    if (taken_from_place_) notices.close();
  }

  /// In the round after `round`, in which all have arrived: takes the blocks of the others that they staged.
  void take(const Notices& notices, std::uint64_t round);

 private:
  bool receives(int rank) const noexcept { return receiver_ == kEverybody || receiver_ == rank; }
  /// Of a chunk, that block's place in the vector, in bytes.
  std::uint64_t begin_of(int chunk, std::uint64_t round) const noexcept {
    return chunks_.begin(chunk) + round * blocks_.block_bytes();
  }
  std::size_t bytes_of(int chunk, std::uint64_t round) const noexcept;
  /// Where this rank's block goes for those that come for it: entered into targets_, unless it is there already.
  Place place_to_take(std::size_t bytes, std::size_t& targets);

  Communicator& comm_;
  std::span<std::byte> out_;
  const Chunks& chunks_;
  const ChunkBlocks& blocks_;
  int receiver_;
  std::optional<Place> place_;
  bool stays_;                      // The others can take results from where they are formed,
  bool taken_from_place_ = false;   // and some do.
  Place shown_ = 0;                 // Of this rank's last block.
  std::optional<Scratch> scratch_;  // For a result that others take, and this rank does not.
  ByRank<std::byte*> targets_;  // Of one round: where the block goes, at most to each rank and into the staging.
};

/// All rounds of it: shows `in`, combines the own chunk of what all show, and hands it to `receiver`, or kEverybody.
void combine_blocks(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, int receiver,
                    ReduceOp op, DataType type, Showing showing);

}  // namespace shoal::detail

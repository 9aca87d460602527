#pragma once

#include "notices.h"

namespace shoal::detail {

/// A vector of which each rank wants its own chunk from every other, shown block by block:
///
///     in       | chunk of rank 0  . . . | chunk of rank 1  . . . | chunk of rank 2  . . . |
///                round 0, 1, 2, ...       round 0, 1, 2, ...       round 0, 1, 2, ...
///     staging  | block for rank 0 | for rank 1 | for rank 2 |   of one round, where `in` cannot be reached
///
/// Rounds follow from the largest chunk, which all ranks know; in the last ones a block may be empty.
class ChunkBlocks {
 public:
  ChunkBlocks(Communicator& comm, std::span<const std::byte> in, const Chunks& chunks, Showing showing)
      : comm_(comm),
        in_(in),
        chunks_(chunks),
        place_(place_to_show(comm, in, showing)),
        block_bytes_(chunk_block_bytes(comm.size() == 1 ? kStagingBytes : comm.staging().size(), comm.size())) {}

  std::uint64_t rounds() const noexcept { return blocks_in(chunks_.largest(), block_bytes_); }
  std::size_t block_bytes() const noexcept { return block_bytes_; }

  template <class Byte>
  std::span<Byte> block(std::span<Byte> chunk, std::uint64_t round) const noexcept {
    return block_of(chunk, round, block_bytes_);
  }

  /// Enters what this rank shows in the next round, which is to be `round` of the call.
  void show(std::uint64_t round, Notice& notice) const {
    std::uint64_t shown = 0;
    const auto staging = place_ || comm_.size() == 1 ? std::span<std::byte>{} : comm_.staging();
    visit_others(comm_, [&](int rank) {
      const auto part = block(chunks_.slice(in_, rank), round);
      shown += part.size();
      if (!place_) copy_bytes(comm_, part, staging.subspan(static_cast<std::size_t>(rank) * block_bytes_));
    });
    comm_.charge(shown, 0);
    notice.data = place_ ? *place_ : staging.empty() ? 0 : *comm_.place_of(staging);
    notice.data_in_place = place_ ? 1 : 0;
  }

  /// This rank's part of what another shows: of its own chunk, block `round`.
  std::span<const std::byte> part_of(const Notice& theirs, std::uint64_t round) const {
    const auto me = static_cast<std::size_t>(comm_.rank());
    const std::size_t bytes = own_bytes(round);
    const std::uint64_t begin =
        theirs.data_in_place != 0 ? chunks_.begin(comm_.rank()) + round * block_bytes_ : me * block_bytes_;
    comm_.charge(0, bytes);
    return bytes == 0 ? std::span<const std::byte>{} : comm_.reach(theirs.data + begin, bytes);
  }

  /// The operands of this rank's block, by rank.
  void gather_operands(const Notices& notices, std::uint64_t round, std::span<const std::byte*> operands) const {
    operands[static_cast<std::size_t>(comm_.rank())] = block(chunks_.slice(in_, comm_.rank()), round).data();
    visit_others(comm_,
                 [&](int rank) { operands[static_cast<std::size_t>(rank)] = part_of(notices.of(rank), round).data(); });
  }

 private:
  std::size_t own_bytes(std::uint64_t round) const { return block(chunks_.slice(in_, comm_.rank()), round).size(); }

  Communicator& comm_;
  std::span<const std::byte> in_;
  const Chunks& chunks_;
  std::optional<Place> place_;
  std::size_t block_bytes_;
};

}  // namespace shoal::detail

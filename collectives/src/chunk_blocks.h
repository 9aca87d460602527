#pragma once

#include "notices.h"

namespace shoal::detail {

/// A vector of which each rank wants its own chunk from every other, shown block by block:
///
///     in       | chunk of rank 0  . . . | chunk of rank 1  . . . | chunk of rank 2  . . . |
///                round 0, 1, 2, ...       round 0, 1, 2, ...       round 0, 1, 2, ...
///     staging  | block for rank 0 | for rank 1 | for rank 2 |   of one round, where `in` cannot be reached
///
/// Rounds follow from the largest chunk, which all ranks know; in the last ones a block may be empty. Where nobody
/// stages there is one round, with all of every chunk.
class ChunkBlocks {
 public:
  ChunkBlocks(Communicator& comm, std::span<const std::byte> in, const Chunks& chunks, Showing showing)
      : comm_(comm),
        in_(in),
        chunks_(chunks),
        place_(place_to_show(comm, in, showing)),
        staged_block_bytes_(chunk_block_bytes(comm.size() == 1 ? kStagingBytes : comm.staging().size(), comm.size())),
        block_bytes_(staged_block_bytes_) {}

  std::uint64_t rounds() const noexcept { return blocks_in(chunks_.largest(), block_bytes_); }
  std::size_t block_bytes() const noexcept { return block_bytes_; }
  /// The rest of the staging of the next round, beside what is shown of `in`.
  std::span<std::byte> rest_of_staging() const { return comm_.staging().last(staged_block_bytes_); }

  template <class Byte>
  std::span<Byte> block(std::span<Byte> chunk, std::uint64_t round) const noexcept {
    return block_of(chunk, round, block_bytes_);
  }

  /// Enters what this rank shows in the next round, which is to be `round` of the call.
  void show(std::uint64_t round, Notice& notice) const {
    const auto staging = place_ || comm_.size() == 1 ? std::span<std::byte>{} : comm_.staging();
    if (!staging.empty())
      visit_others(comm_, [&](int rank) {
        copy_bytes(comm_, block(chunks_.slice(in_, rank), round),
                   staging.subspan(static_cast<std::size_t>(rank) * block_bytes_));
      });
    notice.data = place_ ? *place_ : staging.empty() ? 0 : *comm_.place_of(staging);
    notice.data_in_place = place_ ? 1 : 0;
  }

  /// Once all have arrived in round 0, in which they show everything where it lies: makes that round the only one.
  void take_whole() noexcept { block_bytes_ = (chunks_.largest() / kBlockUnit + 1) * kBlockUnit; }

  /// Counts what this rank shows in the round, which all have arrived in.
  void charge_shown(std::uint64_t round) const {
    std::uint64_t shown = 0;
    visit_others(comm_, [&](int rank) { shown += block(chunks_.slice(in_, rank), round).size(); });
    comm_.charge(shown, 0);
  }

  /// Copies this rank's part of what `rank` shows: of its own chunk, block `round`.
  void copy_part(int rank, const Notice& theirs, std::uint64_t round, std::span<std::byte> to) const {
    comm_.charge(0, to.size());
    comm_.copy_from(rank, place_of_part(theirs, round), to);
  }

  /// Calls combine(offset, bytes, operands) for consecutive pieces of this rank's block, with the operands by rank.
  /// What can only be copied is, in pieces that are in cache when they are combined.
  template <class Combine>
  void combine(const Notices& notices, std::uint64_t round, Combine&& combine) const {
    const auto own = block(chunks_.slice(in_, comm_.rank()), round);
    if (own.empty()) return;
    std::size_t copied = 0;
    visit_others(comm_, [&](int rank) { copied += in_own_memory(notices.of(rank).data) ? 1U : 0U; });
    const std::size_t most = copied == 0 ? own.size() : copied_piece_bytes(copied);
    Scratch scratch(comm_, std::min(own.size(), most) * copied);
    ByRank<const std::byte*> operands(static_cast<std::size_t>(comm_.size()));
    for (std::size_t done = 0; done < own.size(); done += most) {
      const std::size_t bytes = std::min(most, own.size() - done);
      auto unused = scratch.bytes();
      operands[static_cast<std::size_t>(comm_.rank())] = own.data() + done;
      visit_others(comm_, [&](int rank) {
        const Place place = place_of_part(notices.of(rank), round) + done;
        const std::byte*& operand = operands[static_cast<std::size_t>(rank)];
        if (!in_own_memory(place)) {
          operand = comm_.reach(place, bytes).data();
          return;
        }
        comm_.copy_from(rank, place, unused.first(bytes));
        operand = unused.data();
        unused = unused.subspan(bytes);
      });
      combine(done, bytes, span_of(operands));
    }
    comm_.charge(0, static_cast<std::uint64_t>(comm_.size() - 1) * own.size());
  }

 private:
  /// Of each rank's operand, what is copied at once: all of them stay in the second cache.
  static std::size_t copied_piece_bytes(std::size_t operands) noexcept {
    return std::clamp((std::size_t{1} << 20) / operands, std::size_t{8} << 10, kDirectBlockBytes) / kBlockUnit * kBlockUnit;
  }
  Place place_of_part(const Notice& theirs, std::uint64_t round) const {
    const auto me = static_cast<std::size_t>(comm_.rank());
    return theirs.data +
           (theirs.data_in_place != 0 ? chunks_.begin(comm_.rank()) + round * block_bytes_ : me * block_bytes_);
  }

  Communicator& comm_;
  std::span<const std::byte> in_;
  const Chunks& chunks_;
  std::optional<Place> place_;
  std::size_t staged_block_bytes_;
  std::size_t block_bytes_;
};

}  // namespace shoal::detail

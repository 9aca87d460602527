#pragma once

#include <cassert>
#include <cstddef>
#include <span>

#include "by_rank.h"
#include "shoal/collectives/partition.h"

namespace shoal::detail {

/// Where the chunk of each rank lies in a vector of bytes: consecutive chunks of any lengths. Algorithms take these,
/// so that they serve equal, uneven and given lengths alike.
class Chunks {
 public:
  Chunks(const Partition& partition, std::size_t element_bytes) : begins_{0} {
    begins_.reserve(static_cast<std::size_t>(partition.parts()) + 1);
    for (int part = 0; part < partition.parts(); ++part) begins_.push_back(partition.end(part) * element_bytes);
  }
  /// One length a rank, in elements.
  explicit Chunks(std::span<const std::size_t> counts, std::size_t element_bytes = 1) : begins_{0} {
    begins_.reserve(counts.size() + 1);
    for (const std::size_t count : counts) begins_.push_back(begins_.back() + count * element_bytes);
  }

  int count() const noexcept { return static_cast<int>(begins_.size()) - 1; }
  std::size_t total() const noexcept { return begins_.back(); }
  std::size_t begin(int chunk) const noexcept { return begins_[static_cast<std::size_t>(chunk)]; }
  std::size_t size(int chunk) const noexcept { return begin(chunk + 1) - begin(chunk); }
  std::size_t largest() const noexcept {
    std::size_t largest = 0;
    for (int chunk = 0; chunk < count(); ++chunk) largest = size(chunk) > largest ? size(chunk) : largest;
    return largest;
  }

  /// Chunk `chunk` of `data`, which has total() bytes.
  template <class Byte>
  std::span<Byte> slice(std::span<Byte> data, int chunk) const noexcept {
    static_assert(sizeof(Byte) == 1);
    assert(data.size() == total());
    return data.subspan(begin(chunk), size(chunk));
  }

 private:
  ByRank<std::size_t> begins_;  // One more than there are chunks.
};

/// The part of `chunk` that falls into round `round` of blocks of `block_bytes`; empty once the chunk is done.
template <class Byte>
std::span<Byte> block_of(std::span<Byte> chunk, std::size_t round, std::size_t block_bytes) noexcept {
  const std::size_t begin = round * block_bytes < chunk.size() ? round * block_bytes : chunk.size();
  const std::size_t rest = chunk.size() - begin;
  return chunk.subspan(begin, rest < block_bytes ? rest : block_bytes);
}

}  // namespace shoal::detail

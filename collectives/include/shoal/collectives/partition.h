#pragma once

#include <cassert>
#include <cstddef>
#include <span>

namespace shoal {

/// How a vector of n elements is cut into P consecutive chunks, one a rank: sizes differ by at most one and the
/// longer chunks come first, as numpy.array_split cuts. 10 over 4 is 3, 3, 2, 2; 2 over 3 is 1, 1, 0.
class Partition {
 public:
  /// `parts` is at least 1.
  constexpr Partition(std::size_t elements, int parts) noexcept
      : parts_(static_cast<std::size_t>(parts)), shorter_(elements / parts_), longer_parts_(elements % parts_) {
    assert(parts >= 1);
  }

  constexpr int parts() const noexcept { return static_cast<int>(parts_); }
  constexpr std::size_t elements() const noexcept { return parts_ * shorter_ + longer_parts_; }

  /// Elements of chunk `part`, which is in 0 .. parts()-1.
  constexpr std::size_t size(int part) const noexcept {
    return shorter_ + (static_cast<std::size_t>(part) < longer_parts_ ? 1 : 0);
  }
  /// Chunk `part` is [begin(part), end(part)) of the vector; begin(parts()) is elements().
  constexpr std::size_t begin(int part) const noexcept {
    const auto before = static_cast<std::size_t>(part);
    return before * shorter_ + (before < longer_parts_ ? before : longer_parts_);
  }
  constexpr std::size_t end(int part) const noexcept { return begin(part) + size(part); }

  /// Chunk `part` of the vector `data`, which has elements() elements.
  template <class T, std::size_t Extent>
  constexpr std::span<T> slice(std::span<T, Extent> data, int part) const noexcept {
    assert(data.size() == elements());
    return std::span<T>(data).subspan(begin(part), size(part));
  }
  /// The same of a vector given as bytes.
  template <class Byte, std::size_t Extent>
  constexpr std::span<Byte> slice_bytes(std::span<Byte, Extent> data, int part,
                                        std::size_t element_bytes) const noexcept {
    static_assert(sizeof(Byte) == 1);
    assert(data.size() == elements() * element_bytes);
    return std::span<Byte>(data).subspan(begin(part) * element_bytes, size(part) * element_bytes);
  }

 private:
  std::size_t parts_;
  std::size_t shorter_;       // Elements of the shorter chunks.
  std::size_t longer_parts_;  // So many chunks, the first ones, have one more.
};

}  // namespace shoal

#pragma once

#include <bit>

namespace shoal::detail {

/// The power-of-two core of P ranks, in which recursive algorithms halve and double: ranks 0 .. C-1, C being the
/// largest power of two up to P. An outer rank C + q hands what it has to rank q, and gets the outcome from it.
///
///     P = 6, C = 4      0   1   2   3
///                       |   |
///                       4   5
///
/// This is the canonical tree: where P is no power of two, its first distance is C; then come C/2, ..., 1.
class Core {
 public:
  explicit constexpr Core(int ranks) noexcept
      : ranks_(ranks), size_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))) {}

  constexpr int size() const noexcept { return size_; }
  constexpr int levels() const noexcept { return std::countr_zero(static_cast<unsigned>(size_)); }
  constexpr bool holds(int rank) const noexcept { return rank < size_; }
  constexpr bool has_outer(int rank) const noexcept { return rank + size_ < ranks_; }
  constexpr int outer_of(int rank) const noexcept { return rank + size_; }
  constexpr int inner_of(int outer) const noexcept { return outer - size_; }

 private:
  int ranks_;
  int size_;
};

}  // namespace shoal::detail

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include "shoal/collectives/partition.h"

namespace shoal::detail {

/// A rank's part of the binomial tree of gather and scatter. Places are ranks counted from the root, modulo P; the
/// subtree of place v is the places v .. v+width-1, and its children are v+1, v+2, v+4, ... of them.
///
///     P = 7      0 ─┬─ 1
///                   ├─ 2 ─── 3
///                   └─ 4 ─┬─ 5          widths: 0: 7   2: 2   4: 3   the others: 1
///                         └─ 6
///
/// The ranks of a subtree are consecutive, modulo P; so are their chunks, but in one subtree at most, which has the
/// last ranks and then the first ones.
class Subtree {
 public:
  constexpr Subtree(int ranks, int rank, int root) noexcept
      : ranks_(ranks), root_(root), place_((rank + ranks - root) % ranks), width_(width_at(place_)) {}

  constexpr int place() const noexcept { return place_; }
  constexpr int width() const noexcept { return width_; }
  /// Number of children; they are at distance 1, 2, 4, ..., below width().
  constexpr int children() const noexcept {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(width_ - 1)));
  }
  constexpr int farthest_child() const noexcept { return children() == 0 ? 0 : 1 << (children() - 1); }

  constexpr int child(int distance) const noexcept { return rank_at(place_ + distance); }
  constexpr int child_width(int distance) const noexcept { return std::min(distance, width_ - distance); }
  constexpr int parent() const noexcept { return rank_at(place_ & (place_ - 1)); }

  /// Elements of the chunks of places place()+first .. +count-1, where the vector is cut by `partition`.
  constexpr std::size_t elements(const Partition& partition, int first, int count) const noexcept {
    const int begin = rank_at(place_ + first);
    const int end = begin + count;
    return end <= ranks_ ? partition.begin(end) - partition.begin(begin)
                         : partition.elements() - partition.begin(begin) + partition.begin(end - ranks_);
  }
  /// The same where the chunks of this subtree alone have `total` elements: as the first ranks have the longer chunks,
  /// how those are spread over the subtree follows.
  constexpr std::size_t elements_of_total(std::size_t total, int first, int count) const noexcept {
    const Partition own(total, width_);
    const int begin = rank_at(place_);
    std::size_t sum = 0;
    for (int index = first; index < first + count; ++index) {
      const int wrapped = std::max(0, begin + width_ - ranks_);  // So many of the ranks are the first of all.
      sum += own.size(begin + index < ranks_ ? index + wrapped : begin + index - ranks_);
    }
    return sum;
  }

 private:
  constexpr int rank_at(int place) const noexcept { return (place + root_) % ranks_; }
  constexpr int width_at(int place) const noexcept {
    const auto lowest_bit = static_cast<int>(static_cast<unsigned>(place) & (0U - static_cast<unsigned>(place)));
    return place == 0 ? ranks_ : std::min(lowest_bit, ranks_ - place);
  }

  int ranks_;
  int root_;
  int place_;
  int width_;
};

}  // namespace shoal::detail

#pragma once

#include <bit>

namespace shoal::detail {

/// A power-of-two core of P ranks in which each member stands for one rank or two neighbours, so that the chunks of
/// consecutive members are consecutive too. C is the largest power of two up to P; the first P - C members are pairs.
///
///     P = 6, C = 4      member     0     1     2   3
///                       rank      0 1   2 3    4   5        odd ranks of pairs go in and out through the even one
class PairedCore {
 public:
  explicit constexpr PairedCore(int ranks) noexcept
      : size_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))), pairs_(ranks - size_) {}

  constexpr int size() const noexcept { return size_; }
  constexpr int levels() const noexcept { return std::countr_zero(static_cast<unsigned>(size_)); }
  /// The rank that acts for `member`, the first of those that it stands for; first_rank(size()) is P.
  constexpr int first_rank(int member) const noexcept { return member < pairs_ ? 2 * member : member + pairs_; }
  constexpr int member_of(int rank) const noexcept { return in_pair(rank) ? rank / 2 : rank - pairs_; }
  constexpr bool in_pair(int rank) const noexcept { return rank < 2 * pairs_; }
  /// Whether the left neighbour acts for this rank.
  constexpr bool stands_behind(int rank) const noexcept { return in_pair(rank) && rank % 2 == 1; }

 private:
  int size_;
  int pairs_;
};

}  // namespace shoal::detail

#pragma once

#include "shoal/runtime/communicator.h"

namespace shoal::detail {

/// A rank's place among P ranks in a circle: 0 -> 1 -> ... -> P-1 -> 0.
class Ring {
 public:
  explicit Ring(const Communicator& comm) : rank_(comm.rank()), size_(comm.size()) {}

  int right() const noexcept { return ahead(1); }
  int left() const noexcept { return behind(1); }
  /// The rank `distance` steps to the right or left; distance is in 0 .. P.
  int ahead(int distance) const noexcept { return (rank_ + distance) % size_; }
  int behind(int distance) const noexcept { return (rank_ + size_ - distance) % size_; }

 private:
  int rank_;
  int size_;
};

}  // namespace shoal::detail

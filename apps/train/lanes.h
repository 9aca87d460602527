#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/mlp.h"

namespace shoal::train {

/// One of V equal shares of a batch: lane v has the samples at positions v, v + V, v + 2V, ... A lane's gradient is a
/// computation of its own, so that its bits do not depend on which rank computes it.
struct Lane {
  std::size_t number = 0;
  std::size_t lanes = 1;  ///< V.
  Segment rows;           ///< Among the rows that this rank computes.

  /// Where in the batch its row `row` comes from.
  std::size_t position(std::size_t row) const { return number + row * lanes; }
};

/// The lanes that `rank` of `ranks` computes, those congruent to it modulo `ranks`, of a batch of `batch` samples.
/// Lanes may be empty. The canonical tree over all lanes is the one over each rank's lanes followed by the one over
/// ranks, if `lanes` and `ranks` are powers of two.
std::vector<Lane> lanes_of(std::size_t lanes, int rank, int ranks, std::size_t batch);

/// Rows of all these lanes together.
std::size_t rows_of(std::span<const Lane> lanes);

}  // namespace shoal::train

#include "train/lanes.h"

namespace shoal::train {

std::vector<Lane> lanes_of(std::size_t lanes, int rank, int ranks, std::size_t batch) {
  std::vector<Lane> own;
  std::size_t first = 0;
  for (auto number = static_cast<std::size_t>(rank); number < lanes; number += static_cast<std::size_t>(ranks)) {
    const std::size_t rows = number < batch ? (batch - number + lanes - 1) / lanes : 0;
    own.push_back({.number = number, .lanes = lanes, .rows = {.first = first, .rows = rows}});
    first += rows;
  }
  return own;
}

std::size_t rows_of(std::span<const Lane> lanes) {
  return lanes.empty() ? 0 : lanes.back().rows.first + lanes.back().rows.rows;
}

}  // namespace shoal::train

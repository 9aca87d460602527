#include "train/tree.h"

#include <array>
#include <bit>
#include <limits>

namespace shoal::train {

std::size_t canonical_tree_depth(std::size_t count) {
  return count == 0 ? 0 : static_cast<std::size_t>(std::bit_width(count - 1)) + 1;
}

double canonical_sum(std::span<const double> terms) {
  if (terms.empty()) return 0.0;
  std::array<double, std::numeric_limits<std::size_t>::digits + 1> sums{};
  walk_canonical_tree(
      terms.size(), [&](std::size_t term, std::size_t depth) { sums[depth] = terms[term]; },
      [&](std::size_t depth) { sums[depth] += sums[depth + 1]; });
  return sums.front();
}

}  // namespace shoal::train

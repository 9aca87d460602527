#pragma once

#include <cstddef>
#include <span>

namespace shoal::train {

/// Walks the canonical tree over terms 0 .. count-1: with D the largest power of two below count, term k is first
/// combined with term k + D where that exists, then D is halved, down to 1; the lower stands left. It visits
/// the tree depth first, so that sums wait in a stack of buffers no deeper than log2(count) + 1:
///
///     count 4:   leaf(0, 0)  leaf(2, 1)  combine(0)  leaf(1, 1)  leaf(3, 2)  combine(1)  combine(0)
///
/// leaf(k, d) produces term k in buffer d; combine(d) adds buffer d + 1 to buffer d. The sum ends in buffer 0.
template <class LeafAction, class CombineAction>
void walk_canonical_tree(std::size_t count, LeafAction&& leaf, CombineAction&& combine, std::size_t first = 0,
                         std::size_t stride = 1, std::size_t depth = 0) {
  // The subtree of terms first, first + stride, ...: its last combination is of those at even and at odd
  // multiples of the stride.
  if (first + stride >= count) {
    leaf(first, depth);
    return;
  }
  walk_canonical_tree(count, leaf, combine, first, 2 * stride, depth);
  walk_canonical_tree(count, leaf, combine, first + stride, 2 * stride, depth + 1);
  combine(depth);
}

/// Buffers that the walk uses: 1 for one term, 5 for 16.
std::size_t canonical_tree_depth(std::size_t count);

/// The sum of the terms along the canonical tree; 0 of none.
double canonical_sum(std::span<const double> terms);

}  // namespace shoal::train

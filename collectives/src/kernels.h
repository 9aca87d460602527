#pragma once

#include <cstddef>
#include <span>

#include "shoal/runtime/fabric.h"
#include "shoal/runtime/operation.h"

// The arithmetic of reductions, on bytes of a DataType at any alignment. What the rest of the folder knows of it is
// in this header; how the loops are written is behind it.

namespace shoal::detail {

/// band, bor and bxor are not for floating point; bool has them and min and max alone, DataType::byte nothing.
bool is_defined(ReduceOp op, DataType type);
bool is_floating(DataType type);
/// Partial results are wider than the type (f32 for bf16 and f16, more bits for the mean of integers), and only an
/// algorithm that combines all operands in one place, by the tree kernel, forms the result.
bool accumulates_wider(ReduceOp op, DataType type);

/// Combines P operands, `operands[r]` being that of rank r, along the canonical tree:
///
///     P = 6, D = 4:   0 + 4   1 + 5   2   3        rank r with r + 4
///                       (0 4) + 2   (1 5) + 3      then with r + 2
///                          (042) + (153)           then with r + 1
///
/// and, for `mean`, divides by P: floating point after the sum, integers exactly, toward zero. Sums, products and means
/// of bf16 and f16 are those of f32, rounded once at the end. `out` may be one of the operands.
using TreeKernel = void (*)(std::byte* out, std::span<const std::byte* const> operands, std::size_t elements);
TreeKernel tree_kernel(ReduceOp op, DataType type);

/// into[i] = into[i] (op) incoming[i]; that of `mean` is the sum's. None for what accumulates wider, but integer means.
Fold fold_kernel(ReduceOp op, DataType type);

/// data[i] /= divisor: what turns a sum into a mean. f32 and f64 only.
using DivideKernel = void (*)(std::byte* data, std::size_t elements, int divisor);
DivideKernel divide_kernel(DataType type);

/// The largest power of two below `ranks`; 0 for one rank: the first distance of the canonical tree.
constexpr int tree_distance(int ranks) noexcept {
  int distance = 0;
  for (int next = 1; next < ranks; next *= 2) distance = next;
  return distance;
}

}  // namespace shoal::detail

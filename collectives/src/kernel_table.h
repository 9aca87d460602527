#pragma once

#include "kernels.h"

// What kernels.cc chooses from: the plain loops, which hold for every type and reduction on every processor, and those
// on vectors, by families. A family gives what it has for the best of its targets that this processor supports, which
// is nothing where that is the baseline: then the plain loops do.

namespace shoal::detail {

struct Kernel {
  TreeKernel tree = nullptr;
  decltype(Fold::function) fold = nullptr;
};

/// What tree_kernel() and fold_kernel() give out: those on vectors where there are any, else the plain ones. They ask
/// once; this chooses anew at each call, for tests that change the targets.
Kernel best_kernel(ReduceOp op, DataType type);

Kernel plain_kernel(ReduceOp op, DataType type);
DivideKernel plain_divide(DataType type);

/// sum, prod, band, bor and bxor of integers, whatever their sign.
Kernel wrapping_kernel(ReduceOp op, DataType type);
/// min and max of all types.
Kernel extreme_kernel(ReduceOp op, DataType type);
/// mean of integers of up to 32 bits.
Kernel integer_mean_kernel(ReduceOp op, DataType type);
/// sum, prod and mean of f32 and f64.
Kernel floating_kernel(ReduceOp op, DataType type);
DivideKernel floating_divide(DataType type);
/// sum, prod and mean of bf16 and f16.
Kernel half_kernel(ReduceOp op, DataType type);

}  // namespace shoal::detail

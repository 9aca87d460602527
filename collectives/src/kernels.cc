#include "kernels.h"

#include "kernel_table.h"

namespace shoal::detail {
namespace {

bool is_half(DataType type) { return type == DataType::bf16 || type == DataType::f16; }

Kernel vector_kernel(ReduceOp op, DataType type) {
  if (op == ReduceOp::min || op == ReduceOp::max) return extreme_kernel(op, type);
  if (is_half(type)) return half_kernel(op, type);
  if (is_floating(type)) return floating_kernel(op, type);
  return op == ReduceOp::mean ? integer_mean_kernel(op, type) : wrapping_kernel(op, type);
}

Kernel kernel_of(ReduceOp op, DataType type) {
  const Kernel plain = plain_kernel(op, type);
  if (plain.tree == nullptr) return {};  // Not defined.
  const Kernel vectors = vector_kernel(op, type);
  return {.tree = vectors.tree != nullptr ? vectors.tree : plain.tree,
          .fold = vectors.fold != nullptr ? vectors.fold : plain.fold};
}

}  // namespace

bool is_defined(ReduceOp op, DataType type) { return plain_kernel(op, type).tree != nullptr; }

bool is_floating(DataType type) { return type == DataType::f32 || type == DataType::f64 || is_half(type); }

bool accumulates_wider(ReduceOp op, DataType type) {
  if (is_half(type)) return op == ReduceOp::sum || op == ReduceOp::mean || op == ReduceOp::prod;
  return op == ReduceOp::mean && !is_floating(type);
}

TreeKernel tree_kernel(ReduceOp op, DataType type) { return kernel_of(op, type).tree; }

Fold fold_kernel(ReduceOp op, DataType type) {
  // The sum, of which an integer mean has its vectors under another name.
  const ReduceOp step = op == ReduceOp::mean && !is_floating(type) ? ReduceOp::sum : op;
  return {.function = kernel_of(step, type).fold, .element_bytes = element_bytes(type)};
}

DivideKernel divide_kernel(DataType type) {
  const DivideKernel vectors = floating_divide(type);
  return vectors != nullptr ? vectors : plain_divide(type);
}

}  // namespace shoal::detail

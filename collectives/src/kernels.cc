#include "kernels.h"

#include <array>

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

/// best_kernel() of all, looked up once: the smallest operations take less time than asking every family.
class Kernels {
 public:
  Kernels() {
    for (std::size_t op = 0; op < kReduceOpCount; ++op)
      for (std::size_t type = 0; type < kDataTypeCount; ++type)
        all_[op][type] = best_kernel(static_cast<ReduceOp>(op), static_cast<DataType>(type));
  }

  const Kernel& of(ReduceOp op, DataType type) const {
    return all_[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
  }

 private:
  std::array<std::array<Kernel, kDataTypeCount>, kReduceOpCount> all_;
};

const Kernel& kernel_of(ReduceOp op, DataType type) {
  static const Kernels kernels;
  return kernels.of(op, type);
}

}  // namespace

Kernel best_kernel(ReduceOp op, DataType type) {
  const Kernel plain = plain_kernel(op, type);
  if (plain.tree == nullptr) return {};  // Not defined.
  const Kernel vectors = vector_kernel(op, type);
  Kernel best{.tree = vectors.tree != nullptr ? vectors.tree : plain.tree,
              .fold = vectors.fold != nullptr ? vectors.fold : plain.fold};
  // The sum's, of which the family of integer means knows nothing.
  if (op == ReduceOp::mean && !is_floating(type)) best.fold = best_kernel(ReduceOp::sum, type).fold;
  return best;
}

bool is_defined(ReduceOp op, DataType type) { return tree_kernel(op, type) != nullptr; }

bool is_floating(DataType type) { return type == DataType::f32 || type == DataType::f64 || is_half(type); }

bool accumulates_wider(ReduceOp op, DataType type) {
  if (is_half(type)) return op == ReduceOp::sum || op == ReduceOp::mean || op == ReduceOp::prod;
  return op == ReduceOp::mean && !is_floating(type);
}

TreeKernel tree_kernel(ReduceOp op, DataType type) { return kernel_of(op, type).tree; }

Fold fold_kernel(ReduceOp op, DataType type) {
  return {.function = kernel_of(op, type).fold, .element_bytes = element_bytes(type)};
}

DivideKernel divide_kernel(DataType type) {
  const DivideKernel vectors = floating_divide(type);
  return vectors != nullptr ? vectors : plain_divide(type);
}

}  // namespace shoal::detail

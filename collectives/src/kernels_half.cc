// Sums, products and means of bf16 and f16, formed in f32 and rounded once.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_half.cc"
#include <hwy/foreach_target.h>
// The rest is read once for each target.
#include "kernel_tree-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::detail::HWY_NAMESPACE {
namespace {

#if SHOAL_KERNEL_VECTORS
template <class T>
Kernel of_type(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return {.tree = VectorTree<Half<T>, Sum, false>::combine};
    case ReduceOp::prod:
      return {.tree = VectorTree<Half<T>, Product, false>::combine};
    case ReduceOp::mean:
      return {.tree = VectorTree<Half<T>, Sum, true>::combine};
    default:
      return {};
  }
}

Kernel choose(ReduceOp op, DataType type) {
  if (type == DataType::bf16) return of_type<bf16>(op);
  if (type == DataType::f16) return of_type<f16>(op);
  return {};
}
#else
Kernel choose(ReduceOp /*op*/, DataType /*type*/) { return {}; }
#endif

}  // namespace
}  // namespace shoal::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::detail {

namespace {
HWY_EXPORT(choose);
}  // namespace

Kernel half_kernel(ReduceOp op, DataType type) { return HWY_DYNAMIC_DISPATCH(choose)(op, type); }

}  // namespace shoal::detail
#endif

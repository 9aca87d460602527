// Sums, products and means of f32 and f64.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_floating.cc"
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
      return kVectorKernel<Same<T>, Sum>;
    case ReduceOp::prod:
      return kVectorKernel<Same<T>, Product>;
    case ReduceOp::mean:
      return {.tree = VectorTree<Same<T>, Sum, true>::combine, .fold = VectorTree<Same<T>, Sum, false>::fold};
    default:
      return {};
  }
}

Kernel choose(ReduceOp op, DataType type) {
  if (type == DataType::f32) return of_type<float>(op);
  if (type == DataType::f64) return of_type<double>(op);
  return {};
}

template <class T>
void divide(std::byte* data, std::size_t elements, int divisor) {
  const std::array<const std::byte*, 1> operands{data};
  Fused<Same<T>, Same<T>, Sum, 1, true>::run(data, operands.data(), elements, static_cast<T>(divisor));
}

DivideKernel choose_divide(DataType type) {
  if (type == DataType::f32) return divide<float>;
  if (type == DataType::f64) return divide<double>;
  return nullptr;
}
#else
Kernel choose(ReduceOp /*op*/, DataType /*type*/) { return {}; }
DivideKernel choose_divide(DataType /*type*/) { return nullptr; }
#endif

}  // namespace
}  // namespace shoal::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::detail {

namespace {
HWY_EXPORT(choose);
HWY_EXPORT(choose_divide);
}  // namespace

Kernel floating_kernel(ReduceOp op, DataType type) { return HWY_DYNAMIC_DISPATCH(choose)(op, type); }
DivideKernel floating_divide(DataType type) { return HWY_DYNAMIC_DISPATCH(choose_divide)(type); }

}  // namespace shoal::detail
#endif

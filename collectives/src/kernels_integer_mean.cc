// Means of integers of up to 32 bits, in f64. Those of 64 bits need 128, which vectors do not have.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_integer_mean.cc"
#include <hwy/foreach_target.h>
// The rest is read once for each target.
#include "kernel_tree-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::detail::HWY_NAMESPACE {
namespace {

#if SHOAL_KERNEL_VECTORS
template <class T, DataType kType>
void mean(std::byte* out, std::span<const std::byte* const> operands, std::size_t elements) {
  if (operands.size() > Counted<T>::kMostOperands) {
    plain_kernel(ReduceOp::mean, kType).tree(out, operands, elements);
  } else {
    VectorTree<Counted<T>, Sum, true>::combine(out, operands, elements);
  }
}

Kernel choose(ReduceOp op, DataType type) {
  if (op != ReduceOp::mean) return {};
  switch (type) {
    case DataType::i8:
      return {.tree = mean<std::int8_t, DataType::i8>};
    case DataType::i16:
      return {.tree = mean<std::int16_t, DataType::i16>};
    case DataType::i32:
      return {.tree = mean<std::int32_t, DataType::i32>};
    case DataType::u8:
      return {.tree = mean<std::uint8_t, DataType::u8>};
    case DataType::u16:
      return {.tree = mean<std::uint16_t, DataType::u16>};
    case DataType::u32:
      return {.tree = mean<std::uint32_t, DataType::u32>};
    default:
      return {};
  }
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

Kernel integer_mean_kernel(ReduceOp op, DataType type) { return HWY_DYNAMIC_DISPATCH(choose)(op, type); }

}  // namespace shoal::detail
#endif

// Reductions of integers whose results are the same bits whatever the sign: they wrap. Those of bits are the same for
// elements of any size.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_wrapping.cc"
#include <hwy/foreach_target.h>
// The rest is read once for each target.
#include "kernel_tree-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::detail::HWY_NAMESPACE {
namespace {

#if SHOAL_KERNEL_VECTORS
template <class Op>
Kernel of_width(DataType type) {
  switch (type) {
    case DataType::i8:
    case DataType::u8:
    case DataType::boolean:
      return kVectorKernel<Same<std::uint8_t>, Op>;
    case DataType::i16:
    case DataType::u16:
      return kVectorKernel<Same<std::uint16_t>, Op>;
    case DataType::i32:
    case DataType::u32:
      return kVectorKernel<Same<std::uint32_t>, Op>;
    case DataType::i64:
    case DataType::u64:
      return kVectorKernel<Same<std::uint64_t>, Op>;
    default:
      return {};
  }
}

Kernel choose(ReduceOp op, DataType type) {
  switch (op) {
    case ReduceOp::sum:
      return of_width<Sum>(type);
    case ReduceOp::prod:
      return of_width<Product>(type);
    case ReduceOp::band:
      return of_width<BitAnd>(type);
    case ReduceOp::bor:
      return of_width<BitOr>(type);
    case ReduceOp::bxor:
      return of_width<BitXor>(type);
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

Kernel wrapping_kernel(ReduceOp op, DataType type) { return HWY_DYNAMIC_DISPATCH(choose)(op, type); }

}  // namespace shoal::detail
#endif

// min and max, those of floating point by their bits.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_extreme.cc"
#include <hwy/foreach_target.h>
// The rest is read once for each target.
#include "kernel_tree-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::detail::HWY_NAMESPACE {
namespace {

#if SHOAL_KERNEL_VECTORS
template <class T, bool kTakeLess>
Kernel of_integers() {
  return kVectorKernel<Same<T>, Extreme<kTakeLess>>;
}

template <class T, bool kTakeLess>
Kernel of_bits() {
  return kVectorKernel<Same<typename Ordered<T>::Integer>, ExtremeOfBits<T, kTakeLess>>;
}

template <bool kTakeLess>
Kernel of_type(DataType type) {
  switch (type) {
    case DataType::i8:
      return of_integers<std::int8_t, kTakeLess>();
    case DataType::i16:
      return of_integers<std::int16_t, kTakeLess>();
    case DataType::i32:
      return of_integers<std::int32_t, kTakeLess>();
    case DataType::i64:
      return of_integers<std::int64_t, kTakeLess>();
    case DataType::u8:
    case DataType::boolean:
      return of_integers<std::uint8_t, kTakeLess>();
    case DataType::u16:
      return of_integers<std::uint16_t, kTakeLess>();
    case DataType::u32:
      return of_integers<std::uint32_t, kTakeLess>();
    case DataType::u64:
      return of_integers<std::uint64_t, kTakeLess>();
    case DataType::f32:
      return of_bits<float, kTakeLess>();
    case DataType::f64:
      return of_bits<double, kTakeLess>();
    case DataType::bf16:
      return of_bits<bf16, kTakeLess>();
    case DataType::f16:
      return of_bits<f16, kTakeLess>();
    case DataType::byte:
      break;
  }
  return {};
}

Kernel choose(ReduceOp op, DataType type) {
  if (op == ReduceOp::min) return of_type<true>(type);
  if (op == ReduceOp::max) return of_type<false>(type);
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

Kernel extreme_kernel(ReduceOp op, DataType type) { return HWY_DYNAMIC_DISPATCH(choose)(op, type); }

}  // namespace shoal::detail
#endif

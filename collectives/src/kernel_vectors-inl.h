// Vectors of the target that is being compiled (Google Highway includes this file once for each): how they are read
// from bytes and written to bytes, and the reductions of two of them, lane by lane. Every vector operation has the one
// on a single value beside it, which does the same.
//
// A format gives the type of the values that are combined, the bytes of an element in memory, and the ways between.
// Bytes are read and written as bytes, so at any alignment.

#if defined(SHOAL_KERNEL_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHOAL_KERNEL_VECTORS_INL_H
#undef SHOAL_KERNEL_VECTORS_INL_H
#else
#define SHOAL_KERNEL_VECTORS_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernel_ops.h"

/// Whether this target has vectors of its own here. The others leave everything to the plain loops, which the compiler
/// vectorises for the baseline.
#undef SHOAL_KERNEL_VECTORS
#define SHOAL_KERNEL_VECTORS ((HWY_TARGET & (HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL)) != 0)

#if SHOAL_KERNEL_VECTORS
HWY_BEFORE_NAMESPACE();
namespace shoal::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load_vector(D d, const std::byte* bytes) {
  return hn::BitCast(d, hn::LoadU(hn::Repartition<std::uint8_t, D>(), reinterpret_cast<const std::uint8_t*>(bytes)));
}

template <class D>
HWY_INLINE void store_vector(D d, hn::Vec<D> vector, std::byte* bytes) {
  const hn::Repartition<std::uint8_t, D> as_bytes;
  hn::StoreU(hn::BitCast(as_bytes, vector), as_bytes, reinterpret_cast<std::uint8_t*>(bytes));
}

template <class T>
HWY_INLINE T load_value(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <class T>
HWY_INLINE void store_value(T value, std::byte* bytes) {
  std::memcpy(bytes, &value, sizeof(T));
}

/// Elements that are combined as they are.
template <class T>
struct Same {
  using Value = T;
  static constexpr std::size_t kBytes = sizeof(T);

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const std::byte* bytes) {
    return load_vector(d, bytes);
  }
  template <class D>
  static HWY_INLINE void store(D d, hn::Vec<D> values, std::byte* bytes) {
    store_vector(d, values, bytes);
  }
  static HWY_INLINE T load_one(const std::byte* bytes) { return load_value<T>(bytes); }
  static HWY_INLINE void store_one(T value, std::byte* bytes) { store_value(value, bytes); }
};

/// bf16 and f16, combined in f32.
template <class T>
struct Half {
  using Value = float;
  static constexpr std::size_t kBytes = sizeof(std::uint16_t);

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const std::byte* bytes) {
    const auto halves = load_vector(hn::Rebind<std::uint16_t, D>(), bytes);
    if constexpr (std::same_as<T, bf16>) {
      return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::Rebind<std::uint32_t, D>(), halves)));
    } else {
      return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), halves));
    }
  }

  template <class D>
  static HWY_INLINE void store(D d, hn::Vec<D> values, std::byte* bytes) {
    const hn::Rebind<std::uint16_t, D> halves;
    if constexpr (std::same_as<T, bf16>) {
      store_vector(halves, rounded_to_bf16(d, values), bytes);
    } else {  // The processor's conversion rounds and treats NaNs as Binary16Format does, and knows no flush to zero.
      store_vector(halves, hn::BitCast(halves, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), values)), bytes);
    }
  }

  static HWY_INLINE float load_one(const std::byte* bytes) {
    return static_cast<float>(T::from_bits(load_value<std::uint16_t>(bytes)));
  }
  static HWY_INLINE void store_one(float value, std::byte* bytes) { store_value(T(value).bits(), bytes); }

 private:
  /// The steps of Bfloat16Format::rounded.
  template <class D>
  static HWY_INLINE auto rounded_to_bf16(D /*d*/, hn::Vec<D> values) {
    const hn::Rebind<std::uint32_t, D> u32;
    const hn::Rebind<std::int32_t, D> i32;
    const auto bits = hn::BitCast(u32, values);
    const auto upper = hn::ShiftRight<16>(bits);
    const auto odd = hn::And(upper, hn::Set(u32, 1));
    const auto nearest = hn::ShiftRight<16>(hn::Add(bits, hn::Add(hn::Set(u32, 0x7fff), odd)));
    const auto quiet_nan = hn::Or(upper, hn::Set(u32, 0x0040));
    const auto magnitude = hn::BitCast(i32, hn::And(bits, hn::Set(u32, ~kF32Sign)));
    const auto is_nan = hn::Gt(magnitude, hn::Set(i32, kF32Infinity));
    const auto chosen = hn::IfThenElse(is_nan, hn::BitCast(i32, quiet_nan), hn::BitCast(i32, nearest));
    return hn::DemoteTo(hn::Rebind<std::uint16_t, D>(), chosen);
  }
};

/// Integers of up to 32 bits whose mean is wanted: summed in f64, which is exact below 2^53, and cut toward zero. For
/// up to 2^20 operands a sum is below 2^52, and its quotient rounds to no integer but itself.
template <class T>
struct Counted {
  using Value = double;
  static constexpr std::size_t kBytes = sizeof(T);
  static constexpr std::size_t kMostOperands = std::size_t{1} << 20;

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const std::byte* bytes) {
    const hn::Rebind<std::int32_t, D> i32;
    const auto values = load_vector(hn::Rebind<T, D>(), bytes);
    if constexpr (std::same_as<T, std::uint32_t>) {
      const auto below = hn::Xor(hn::BitCast(i32, values), hn::Set(i32, kLeast));  // Less 2^31.
      return hn::Add(hn::PromoteTo(d, below), hn::Set(d, kTwoTo31));
    } else if constexpr (std::same_as<T, std::int32_t>) {
      return hn::PromoteTo(d, values);
    } else {
      return hn::PromoteTo(d, hn::PromoteTo(i32, values));
    }
  }

  template <class D>
  static HWY_INLINE void store(D d, hn::Vec<D> values, std::byte* bytes) {
    const hn::Rebind<std::int32_t, D> i32;
    const hn::Rebind<T, D> narrow;
    if constexpr (std::same_as<T, std::uint32_t>) {
      const auto below = hn::DemoteTo(i32, hn::Sub(hn::Trunc(values), hn::Set(d, kTwoTo31)));
      store_vector(narrow, hn::BitCast(narrow, hn::Xor(below, hn::Set(i32, kLeast))), bytes);
    } else if constexpr (std::same_as<T, std::int32_t>) {
      store_vector(narrow, hn::DemoteTo(i32, values), bytes);
    } else {
      store_vector(narrow, hn::DemoteTo(narrow, hn::DemoteTo(i32, values)), bytes);
    }
  }

  static HWY_INLINE double load_one(const std::byte* bytes) { return static_cast<double>(load_value<T>(bytes)); }
  static HWY_INLINE void store_one(double value, std::byte* bytes) { store_value(static_cast<T>(value), bytes); }

 private:
  static constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  static constexpr double kTwoTo31 = 2147483648.0;
};

/// The reductions of kernel_ops.h on vectors.
template <class Op>
struct Lanewise;

template <>
struct Lanewise<Sum> {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D /*d*/, hn::Vec<D> left, hn::Vec<D> right) {
    return hn::Add(left, right);
  }
};

template <>
struct Lanewise<Product> {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> left, hn::Vec<D> right) {
    if constexpr (sizeof(hn::TFromD<D>) == 1) {  // The lower bytes of pairs as 16-bit numbers, then the upper ones.
      const hn::Repartition<std::uint16_t, D> u16;
      const auto l = hn::BitCast(u16, left);
      const auto r = hn::BitCast(u16, right);
      const auto lower = hn::And(hn::Mul(l, r), hn::Set(u16, 0x00ff));
      const auto upper = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(l), hn::ShiftRight<8>(r)));
      return hn::BitCast(d, hn::Or(lower, upper));
    } else {
      return hn::Mul(left, right);
    }
  }
};

template <bool kTakeLess>
struct Lanewise<Extreme<kTakeLess>> {  // Of integers.
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D /*d*/, hn::Vec<D> left, hn::Vec<D> right) {
    if constexpr (kTakeLess) {
      return hn::Min(left, right);
    } else {
      return hn::Max(left, right);
    }
  }
};

template <class T, bool kTakeLess>
struct Lanewise<ExtremeOfBits<T, kTakeLess>> {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> left, hn::Vec<D> right) {
    const auto right_wins = kTakeLess ? hn::Lt(key(d, right), key(d, left)) : hn::Lt(key(d, left), key(d, right));
    const auto take_right = hn::AndNot(is_nan(d, left), hn::Or(right_wins, is_nan(d, right)));
    return hn::IfThenElse(take_right, right, left);
  }

 private:
  template <class D>
  static HWY_INLINE hn::Vec<D> key(D d, hn::Vec<D> bits) {
    return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), hn::Set(d, Ordered<T>::kMagnitude)));
  }
  template <class D>
  static HWY_INLINE auto is_nan(D d, hn::Vec<D> bits) {
    return hn::Gt(hn::And(bits, hn::Set(d, Ordered<T>::kMagnitude)), hn::Set(d, Ordered<T>::kInfinity));
  }
};

template <>
struct Lanewise<BitAnd> {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D /*d*/, hn::Vec<D> left, hn::Vec<D> right) {
    return hn::And(left, right);
  }
};

template <>
struct Lanewise<BitOr> {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D /*d*/, hn::Vec<D> left, hn::Vec<D> right) {
    return hn::Or(left, right);
  }
};

template <>
struct Lanewise<BitXor> {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D /*d*/, hn::Vec<D> left, hn::Vec<D> right) {
    return hn::Xor(left, right);
  }
};

}  // namespace
}  // namespace shoal::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // SHOAL_KERNEL_VECTORS

#endif

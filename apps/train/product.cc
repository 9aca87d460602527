// Matrix products in tiles of c that stay in registers while the sums go on:
//
//               b: kVectors vectors of each row            for each term of the sums:
//                  [=======|=======|=======]                 load a row's part of b,
//     a: kRows   * [.......|.......|.......]                 and for each row of the tile
//     elements   * [.......|  c    |.......]                   add its element of a, on all lanes, times that
//     a column   * [.......|.......|.......]
//
// What is left of the rows is done in lower tiles, what is left of the columns in single and then in shorter vectors. The
// order of an element's terms is the same in all of them. Elements of a may lie anywhere, so that its transpose costs
// nothing.

#include "train/product.h"

// Vectors of a size unknown to the compiler cannot be kept in arrays.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "train/product.cc"
#include <hwy/foreach_target.h>
// The rest is read once for each target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>

HWY_BEFORE_NAMESPACE();
namespace shoal::train::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// The factor on the left: element (i, j) is data[i * row_stride + j * column_stride].
struct Left {
  const float* data;
  std::size_t row_stride;
  std::size_t column_stride;
};

// With 32 vector registers 24 hold sums, with 16 there are 12 of them.
constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON;
constexpr std::size_t kMostRows = kManyRegisters ? 8 : 4;
constexpr std::size_t kMostVectors = 3;

/// kRows x kVectors vectors of c, of which a, b and c point to the first.
template <std::size_t kRows, std::size_t kVectors, class D>
HWY_INLINE void tile(D d, const Left& a, const ConstMatrix& b, float* c, std::size_t c_stride) {
  using Vector = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  std::array<std::array<Vector, kVectors>, kRows> sums;
  for (auto& row : sums) row.fill(hn::Zero(d));
  const float* of_a = a.data;
  const float* of_b = b.data;
  for (std::size_t term = 0; term < b.rows; ++term, of_a += a.column_stride, of_b += b.stride) {
    std::array<Vector, kVectors> right;
    for (std::size_t i = 0; i < kVectors; ++i) right[i] = hn::LoadU(d, of_b + i * lanes);
    for (std::size_t row = 0; row < kRows; ++row) {
      const Vector left = hn::Set(d, of_a[row * a.row_stride]);
      for (std::size_t i = 0; i < kVectors; ++i) sums[row][i] = hn::MulAdd(left, right[i], sums[row][i]);
    }
  }
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t i = 0; i < kVectors; ++i) hn::StoreU(sums[row][i], d, c + row * c_stride + i * lanes);
}

/// All rows of kVectors vectors of columns.
template <std::size_t kVectors, std::size_t kRows = kMostRows, class D>
HWY_INLINE void columns(D d, Left a, const ConstMatrix& b, Matrix c) {
  for (; c.rows >= kRows; c.rows -= kRows) {
    tile<kRows, kVectors>(d, a, b, c.data, c.stride);
    a.data += kRows * a.row_stride;
    c.data += kRows * c.stride;
  }
  if constexpr (kRows > 1) columns<kVectors, kRows / 2>(d, a, b, c);
}

/// As many columns as there are vectors of this length, then the rest in shorter ones.
template <std::size_t kLanes>
HWY_INLINE void in_vectors(const Left& a, ConstMatrix b, Matrix c) {
  const hn::CappedTag<float, kLanes> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto advance = [&](std::size_t done) {
    b.data += done;
    c.data += done;
    c.columns -= done;
  };
  for (; c.columns >= kMostVectors * lanes; advance(kMostVectors * lanes)) columns<kMostVectors>(d, a, b, c);
  for (; c.columns >= lanes; advance(lanes)) columns<1>(d, a, b, c);
  if constexpr (kLanes > 1)
    if (c.columns > 0) in_vectors<kLanes / 2>(a, b, c);
}

void product(const float* a, std::size_t row_stride, std::size_t column_stride, const ConstMatrix& b, const Matrix& c) {
  in_vectors<HWY_MAX_BYTES / sizeof(float)>({a, row_stride, column_stride}, b, c);
}

}  // namespace
}  // namespace shoal::train::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::train {
namespace {

HWY_EXPORT(product);

}  // namespace

void multiply(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c) {
  assert(a.columns == b.rows && a.rows == c.rows && b.columns == c.columns);
  HWY_DYNAMIC_DISPATCH(product)(a.data, a.stride, 1, b, c);
}

void multiply_transposed_left(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c) {
  assert(a.rows == b.rows && a.columns == c.rows && b.columns == c.columns);
  HWY_DYNAMIC_DISPATCH(product)(a.data, 1, a.stride, b, c);
}

void transpose(const ConstMatrix& from, const Matrix& to) {
  assert(from.rows == to.columns && from.columns == to.rows);
  constexpr std::size_t kBlock = 16;  // Columns of which the lines written to stay in cache.
  for (std::size_t first = 0; first < from.columns; first += kBlock)
    for (std::size_t row = 0; row < from.rows; ++row)
      for (std::size_t column = first; column < std::min(first + kBlock, from.columns); ++column)
        to.data[column * to.stride + row] = from.data[row * from.stride + column];
}

}  // namespace shoal::train
#endif

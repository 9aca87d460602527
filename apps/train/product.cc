// Matrix products, through oneDNN's single-precision product.

#include "train/product.h"

#include <dnnl.h>
#include <omp.h>

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string>

namespace shoal::train {
namespace {

/// c = op(a) op(b) with the sum over `inner` terms.
void product(char transpose_a, char transpose_b, std::size_t inner, const ConstMatrix& a, const ConstMatrix& b,
             const Matrix& c) {
  if (c.rows == 0 || c.columns == 0) return;
  if (inner == 0) {
    for (std::size_t row = 0; row < c.rows; ++row) std::fill_n(c.data + row * c.stride, c.columns, 0.0F);
    return;
  }
  const auto size = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
  const dnnl_status_t status = dnnl_sgemm(transpose_a, transpose_b, size(c.rows), size(c.columns), size(inner), 1.0F,
                                          a.data, size(a.stride), b.data, size(b.stride), 0.0F, c.data, size(c.stride));
  if (status != dnnl_success)
    throw std::runtime_error("oneDNN refuses a product: status " + std::to_string(static_cast<int>(status)));
}

}  // namespace

void use_one_thread() { omp_set_num_threads(1); }

void multiply(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c) {
  assert(a.columns == b.rows && a.rows == c.rows && b.columns == c.columns);
  product('N', 'N', a.columns, a, b, c);
}

void multiply_transposed_left(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c) {
  assert(a.rows == b.rows && a.columns == c.rows && b.columns == c.columns);
  product('T', 'N', a.rows, a, b, c);
}

void multiply_transposed_right(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c) {
  assert(a.columns == b.columns && a.rows == c.rows && b.rows == c.columns);
  product('N', 'T', a.columns, a, b, c);
}

}  // namespace shoal::train

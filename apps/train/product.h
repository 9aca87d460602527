#pragma once

#include <cstddef>

namespace shoal::train {

/// A row-major matrix somewhere in memory: element (i, j) is data[i * stride + j].
struct ConstMatrix {
  const float* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;
};

struct Matrix {
  float* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;
};

/// Makes the products that the calling thread asks for run on it alone, whatever OMP_NUM_THREADS says. A sum divided
/// among threads would depend on their number, and ranks already share the cores among them. Call it before the first
/// product.
void use_one_thread();

/// c = a b, c = a^T b, c = a b^T. The bits of c depend on the shapes and values alone. Empty shapes: c becomes 0.
void multiply(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c);
void multiply_transposed_left(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c);
void multiply_transposed_right(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c);

}  // namespace shoal::train

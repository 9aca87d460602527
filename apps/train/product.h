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

/// c = a b, c = a^T b, on the calling thread, without taking memory. Each element of c is the sum of its terms one after
/// the other, each product and its sum rounded once where the processor can: its bits depend on its row and column of a
/// and b alone. Empty sums are 0.
void multiply(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c);
void multiply_transposed_left(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c);

/// to = from^T.
void transpose(const ConstMatrix& from, const Matrix& to);

}  // namespace shoal::train

#include "train/product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace shoal::train {
namespace {

constexpr std::size_t kMargin = 3;  // Columns of a row that are not of the matrix.

/// A matrix of small whole numbers, whose products and sums f32 has exactly.
class Numbers {
 public:
  Numbers(std::size_t rows, std::size_t columns, std::size_t seed)
      : rows_(rows), columns_(columns), values_(rows * (columns + kMargin)) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      values_[i] = static_cast<float>(static_cast<int>((i * 131 + seed * 17) % 41) - 20);
  }
  float at(std::size_t row, std::size_t column) const { return values_[row * (columns_ + kMargin) + column]; }
  ConstMatrix matrix() const { return {values_.data(), rows_, columns_, columns_ + kMargin}; }

  /// Whose products and sums it rounds.
  void make_fractions() {
    for (float& value : values_) value = (value + 0.37F) / 13.0F;
  }

 private:
  std::size_t rows_;
  std::size_t columns_;
  std::vector<float> values_;
};

/// Of a room in which what is not written stays.
class Result {
 public:
  Result(std::size_t rows, std::size_t columns) : columns_(columns), values_(rows * (columns + kMargin), -7.5F) {}

  Matrix matrix(std::size_t rows) { return {values_.data(), rows, columns_, columns_ + kMargin}; }
  float at(std::size_t row, std::size_t column) const { return values_[row * (columns_ + kMargin) + column]; }
  bool has_its_margins() const {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (i % (columns_ + kMargin) >= columns_ && values_[i] != -7.5F) return false;
    return true;
  }

 private:
  std::size_t columns_;
  std::vector<float> values_;
};

const std::vector<std::size_t> kRows{0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 25};
const std::vector<std::size_t> kColumns{0, 1, 2, 3, 5, 8, 10, 15, 16, 17, 31, 47, 48, 49, 63, 97, 130};
const std::vector<std::size_t> kInner{0, 1, 2, 9, 40};

TEST(Product, IsThatOfAPlainLoopForEveryShape) {
  for (const std::size_t rows : kRows) {
    for (const std::size_t columns : kColumns) {
      for (const std::size_t inner : kInner) {
        const Numbers a(rows, inner, 1);
        const Numbers a_transposed(inner, rows, 2);
        const Numbers b(inner, columns, 3);
        Result c(rows, columns);
        Result d(rows, columns);
        multiply(a.matrix(), b.matrix(), c.matrix(rows));
        multiply_transposed_left(a_transposed.matrix(), b.matrix(), d.matrix(rows));
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < columns; ++j) {
            float sum = 0.0F;
            float sum_transposed = 0.0F;
            for (std::size_t k = 0; k < inner; ++k) {
              sum += a.at(i, k) * b.at(k, j);
              sum_transposed += a_transposed.at(k, i) * b.at(k, j);
            }
            ASSERT_EQ(c.at(i, j), sum) << rows << ' ' << columns << ' ' << inner;
            ASSERT_EQ(d.at(i, j), sum_transposed) << rows << ' ' << columns << ' ' << inner;
          }
        }
        EXPECT_TRUE(c.has_its_margins() && d.has_its_margins());
      }
    }
  }
}

// Bits: whatever rows and columns are computed together, in tiles of whatever size, each element is the same.
TEST(Product, BitsOfAnElementDependOnItsRowAndColumnAlone) {
  constexpr std::size_t kSize = 61;
  Numbers a(kSize, kSize, 5);
  Numbers b(kSize, kSize, 6);
  a.make_fractions();
  b.make_fractions();
  Result whole(kSize, kSize);
  multiply(a.matrix(), b.matrix(), whole.matrix(kSize));
  for (std::size_t first = 0; first < kSize; first += 5) {
    for (const std::size_t size : {1U, 2U, 6U}) {
      const std::size_t count = std::min(size, kSize - first);
      ConstMatrix some_rows = a.matrix();
      some_rows.data += first * some_rows.stride;
      some_rows.rows = count;
      ConstMatrix some_columns = b.matrix();
      some_columns.data += first;
      some_columns.columns = count;
      Result part(count, count);
      multiply(some_rows, some_columns, part.matrix(count));
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < count; ++j) EXPECT_EQ(part.at(i, j), whole.at(first + i, first + j));
    }
  }
}

TEST(Transpose, ExchangesRowsAndColumns) {
  for (const std::size_t rows : kRows) {
    for (const std::size_t columns : kColumns) {
      const Numbers from(rows, columns, 4);
      Result to(columns, rows);
      transpose(from.matrix(), to.matrix(columns));
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) ASSERT_EQ(to.at(j, i), from.at(i, j));
      EXPECT_TRUE(to.has_its_margins());
    }
  }
}

}  // namespace
}  // namespace shoal::train

#include "train/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace shoal::train {
namespace {

using Labels = std::vector<std::uint8_t>;

TEST(SoftmaxCrossEntropy, OfEqualScoresIsTheLogarithmOfTheClasses) {
  const std::vector<float> outputs(8, 3.0F);  // Two rows of four.
  std::vector<float> derivative(8);
  EXPECT_DOUBLE_EQ(softmax_cross_entropy(outputs, Labels{1, 3}, derivative), 2 * std::log(4.0));
  EXPECT_EQ(derivative, (std::vector<float>{0.25F, -0.75F, 0.25F, 0.25F, 0.25F, 0.25F, 0.25F, -0.75F}));
}

TEST(SoftmaxCrossEntropy, IsASumOverRowsNotAMean) {
  const std::vector<float> one{0.5F, -1.0F, 2.0F};
  std::vector<float> thrice;
  for (int i = 0; i < 3; ++i) thrice.insert(thrice.end(), one.begin(), one.end());
  std::vector<float> derivative(9);
  const double single = softmax_cross_entropy(one, Labels{0}, std::span(derivative).first(3));
  EXPECT_DOUBLE_EQ(softmax_cross_entropy(thrice, Labels{0, 0, 0}, derivative), 3 * single);
}

TEST(SoftmaxCrossEntropy, DerivativeIsThatOfCentralDifferences) {
  const std::vector<double> outputs{0.3, -1.2, 2.5, 0.0, 4.0, 3.5, -0.7, 1.1};
  const Labels labels{2, 0};
  // Written out anew, in double precision.
  const auto loss = [&](const std::vector<double>& scores) {
    double total = 0.0;
    for (std::size_t row = 0; row < 2; ++row) {
      double sum = 0.0;
      for (std::size_t i = 0; i < 4; ++i) sum += std::exp(scores[row * 4 + i]);
      total += std::log(sum) - scores[row * 4 + labels[row]];
    }
    return total;
  };
  const std::vector<float> narrow(outputs.begin(), outputs.end());
  std::vector<float> derivative(8);
  EXPECT_NEAR(softmax_cross_entropy(narrow, labels, derivative), loss(outputs), 1e-6);
  for (std::size_t i = 0; i < 8; ++i) {
    constexpr double kStep = 1e-5;
    auto above = outputs;
    auto below = outputs;
    above[i] += kStep;
    below[i] -= kStep;
    EXPECT_NEAR(derivative[i], (loss(above) - loss(below)) / (2 * kStep), 1e-6) << i;
  }
}

TEST(SoftmaxCrossEntropy, HugeScoresOverflowNothing) {
  const std::vector<float> outputs{3e38F, -3e38F, 0.0F};
  std::vector<float> derivative(3);
  EXPECT_EQ(softmax_cross_entropy(outputs, Labels{0}, derivative), 0.0);
  EXPECT_EQ(derivative, (std::vector<float>{0.0F, 0.0F, 0.0F}));
  EXPECT_NEAR(softmax_cross_entropy(outputs, Labels{2}, derivative), 3e38, 1e32);
  EXPECT_EQ(derivative, (std::vector<float>{1.0F, 0.0F, -1.0F}));
}

TEST(SoftmaxCrossEntropy, NanStaysNan) {
  const std::vector<float> outputs{1.0F, std::numeric_limits<float>::quiet_NaN(), 0.0F};
  std::vector<float> derivative(3);
  EXPECT_TRUE(std::isnan(softmax_cross_entropy(outputs, Labels{0}, derivative)));
}

TEST(SquaredError, SumsSquaresAndSlopesTwiceTheDifference) {
  const std::vector<float> outputs{1.0F, 2.0F, -3.0F, 0.5F};
  const std::vector<float> targets{0.0F, 2.0F, 1.0F, 1.0F};
  std::vector<float> derivative(4);
  EXPECT_EQ(squared_error(outputs, targets, derivative), 1.0 + 0.0 + 16.0 + 0.25);
  EXPECT_EQ(derivative, (std::vector<float>{2.0F, 0.0F, -8.0F, -1.0F}));
}

TEST(Losses, OfNoRowsAreZero) {
  EXPECT_EQ(softmax_cross_entropy({}, {}, {}), 0.0);
  EXPECT_EQ(squared_error({}, {}, {}), 0.0);
  EXPECT_EQ(count_correct({}, {}), 0U);
}

TEST(CountCorrect, TakesTheFirstOfEqualScores) {
  const std::vector<float> outputs{1.0F, 5.0F, 5.0F, /**/ 7.0F, 0.0F, 6.0F, /**/ -1.0F, -2.0F, -0.5F};
  EXPECT_EQ(count_correct(outputs, Labels{1, 0, 2}), 3U);
  EXPECT_EQ(count_correct(outputs, Labels{2, 0, 1}), 1U);
}

}  // namespace
}  // namespace shoal::train

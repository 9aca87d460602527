#include "train/mlp.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "train/tree.h"

namespace shoal::train {
namespace {

// Small whole numbers: every product and sum is exact in any order, so plain loops give the same bits.
struct Case {
  std::vector<std::size_t> dims;
  std::vector<std::size_t> segments;
};

class MlpOnWholeNumbers : public testing::TestWithParam<Case> {
 protected:
  MlpOnWholeNumbers() : layout_(GetParam().dims) {
    for (const std::size_t rows : GetParam().segments) {
      segments_.push_back({rows_, rows});
      rows_ += rows;
    }
    for (std::size_t i = 0; i < layout_.parameters(); ++i)
      parameters_.push_back(static_cast<float>(static_cast<int>(i * 7 % 5) - 2));
    for (std::size_t i = 0; i < rows_ * layout_.inputs(); ++i)
      inputs_.push_back(static_cast<float>(static_cast<int>(i * 11 % 7) - 3));
    for (std::size_t i = 0; i < rows_ * layout_.outputs(); ++i)
      slopes_.push_back(static_cast<float>(static_cast<int>(i * 5 % 3) - 1));
  }

  std::span<const float> parameters(std::size_t layer) const {
    return std::span(parameters_).subspan(layout_.layers()[layer].offset, layout_.layers()[layer].size());
  }
  double weight(const Layer& layer, std::size_t i, std::size_t j) const {
    return parameters_[layer.offset + i * layer.outputs + j];
  }

  /// values[l][row][i] by plain loops.
  std::vector<std::vector<std::vector<double>>> plain_forward() const {
    std::vector<std::vector<std::vector<double>>> values(1, std::vector<std::vector<double>>(rows_));
    for (std::size_t row = 0; row < rows_; ++row)
      for (std::size_t i = 0; i < layout_.inputs(); ++i) values[0][row].push_back(inputs_[row * layout_.inputs() + i]);
    for (const Layer& layer : layout_.layers()) {
      values.emplace_back(rows_);
      for (std::size_t row = 0; row < rows_; ++row) {
        for (std::size_t j = 0; j < layer.outputs; ++j) {
          double sum = parameters_[layer.offset + layer.weights() + j];
          for (std::size_t i = 0; i < layer.inputs; ++i) sum += values[values.size() - 2][row][i] * weight(layer, i, j);
          values.back()[row].push_back(&layer == &layout_.layers().back() ? sum : std::max(sum, 0.0));
        }
      }
    }
    return values;
  }

  /// Gradient of all parameters by plain loops.
  std::vector<double> plain_gradient() const {
    const auto values = plain_forward();
    std::vector<double> gradient(layout_.parameters());
    for (std::size_t row = 0; row < rows_; ++row) {
      std::vector<double> slopes(slopes_.begin() + static_cast<std::ptrdiff_t>(row * layout_.outputs()),
                                 slopes_.begin() + static_cast<std::ptrdiff_t>((row + 1) * layout_.outputs()));
      for (std::size_t l = layout_.layers().size(); l-- > 0;) {
        const Layer& layer = layout_.layers()[l];
        std::vector<double> below(layer.inputs);
        for (std::size_t j = 0; j < layer.outputs; ++j) {
          gradient[layer.offset + layer.weights() + j] += slopes[j];
          for (std::size_t i = 0; i < layer.inputs; ++i) {
            gradient[layer.offset + i * layer.outputs + j] += values[l][row][i] * slopes[j];
            if (values[l][row][i] > 0.0) below[i] += slopes[j] * weight(layer, i, j);
          }
        }
        slopes = below;
      }
    }
    return gradient;
  }

  Layout layout_;
  std::vector<Segment> segments_;
  std::size_t rows_ = 0;
  std::vector<float> parameters_;
  std::vector<float> inputs_;
  std::vector<float> slopes_;
};

TEST_P(MlpOnWholeNumbers, GivesWhatPlainLoopsGive) {
  AccountedMemory memory;
  Mlp mlp(layout_, rows_, segments_.size(), memory);
  const std::size_t layers = layout_.layers().size();
  for (const Segment& segment : segments_) {
    const auto into = mlp.inputs(segment);
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = inputs_[segment.first * layout_.inputs() + i];
  }
  for (std::size_t layer = 0; layer < layers; ++layer) mlp.forward(layer, parameters(layer), segments_);
  const auto values = plain_forward();
  for (const Segment& segment : segments_) {
    const auto outputs = mlp.outputs(segment);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      ASSERT_EQ(outputs[i], values.back()[segment.first + i / layout_.outputs()][i % layout_.outputs()]);
    const auto slopes = mlp.output_derivative(segment);
    for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = slopes_[segment.first * layout_.outputs() + i];
  }

  const auto expected = plain_gradient();
  for (std::size_t layer = layers; layer-- > 0;) {
    std::vector<float> gradient(layout_.layers()[layer].size(), 99.0F);
    mlp.gradient(layer, segments_, gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i)
      ASSERT_EQ(gradient[i], expected[layout_.layers()[layer].offset + i]) << "layer " << layer << ", " << i;
    if (layer > 0) mlp.backward(layer, parameters(layer), segments_);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MlpOnWholeNumbers,
                         testing::Values(Case{{3, 2}, {1}}, Case{{1, 1, 1}, {2, 1}}, Case{{5, 7, 3}, {2, 1, 0, 2}},
                                         Case{{70, 9, 4}, {3, 3, 2}},   // More inputs than rows at a time.
                                         Case{{128, 3, 2}, {0, 0, 1}},  // Twice the rows at a time; empty lanes.
                                         Case{{2, 65, 65, 2}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
                                         Case{{4, 3, 2}, {0, 0}}));

TEST(Mlp, GradientsOfSegmentsAreAddedAlongTheCanonicalTree) {
  // One weight; the input is 1, so a row's gradient is its slope. In single precision 1e8 + 1 is 1e8:
  // (1e8 - 1e8) + (1 + 1) is 2, from left to right it would be 1.
  const std::array<std::size_t, 2> dims{1, 1};
  const Layout layout(dims);
  AccountedMemory memory;
  const std::vector<Segment> segments{{0, 1}, {1, 1}, {2, 1}, {3, 1}};
  Mlp mlp(layout, 4, 4, memory);
  const std::array<float, 4> slopes{1e8F, 1.0F, -1e8F, 1.0F};
  for (std::size_t i = 0; i < 4; ++i) {
    mlp.inputs(segments[i])[0] = 1.0F;
    mlp.output_derivative(segments[i])[0] = slopes[i];
  }
  std::vector<float> gradient(2);
  mlp.gradient(0, segments, gradient);
  EXPECT_EQ(gradient, (std::vector<float>{2.0F, 2.0F}));
}

TEST(Mlp, NanInputsReachTheOutputs) {
  const std::array<std::size_t, 3> dims{2, 2, 1};
  const Layout layout(dims);
  AccountedMemory memory;
  Mlp mlp(layout, 1, 0, memory);
  const std::array<Segment, 1> segments{{{0, 1}}};
  mlp.inputs(segments[0])[0] = std::numeric_limits<float>::quiet_NaN();
  mlp.inputs(segments[0])[1] = 1.0F;
  const std::vector<float> first(6, 1.0F);
  const std::vector<float> second(3, 1.0F);
  mlp.forward(0, first, segments);
  mlp.forward(1, second, segments);
  EXPECT_TRUE(std::isnan(mlp.outputs(segments[0])[0]));
}

TEST(Layout, ParametersLieLayerByLayerWeightsBeforeBiases) {
  const std::array<std::size_t, 4> dims{64, 128, 128, 64};
  const Layout layout(dims);
  EXPECT_EQ(layout.parameters(), 33088U);
  ASSERT_EQ(layout.layers().size(), 3U);
  EXPECT_EQ(layout.layers()[1].offset, 8320U);
  EXPECT_EQ(layout.layers()[1].weights(), 16384U);
  EXPECT_EQ(layout.layers()[2].offset, 24832U);
  EXPECT_EQ(layout.largest_layer(), 16512U);
  EXPECT_EQ(layout.widest(), 128U);
}

TEST(AccountedMemory, CountsWhatIsHeldAndTheMostThatWas) {
  AccountedMemory memory;
  {
    const Floats ten(10, &memory);
    EXPECT_EQ(memory.bytes(), 40U);
    { const Floats five(5, &memory); }
    EXPECT_EQ(memory.bytes(), 40U);
  }
  EXPECT_EQ(memory.bytes(), 0U);
  EXPECT_EQ(memory.peak_bytes(), 60U);
  EXPECT_EQ(memory.allocations(), 2U);
}

TEST(AccountedMemory, IsAlignedForVectors) {
  AccountedMemory memory;
  for (const std::size_t size : {1U, 3U, 1000U}) {
    const Floats values(size, &memory);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % 64, 0U);
  }
}

}  // namespace
}  // namespace shoal::train

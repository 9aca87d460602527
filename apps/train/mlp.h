#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/layout.h"
#include "train/memory.h"
#include "train/product.h"

namespace shoal::train {

/// Consecutive rows that are computed together: one lane of a batch, or one block of an evaluation. The bits of a
/// segment's results depend on its own rows alone, whichever others the rank has.
struct Segment {
  std::size_t first = 0;
  std::size_t rows = 0;
};

/// `rows` x `width` values in memory that is taken once and used again: a batch may have fewer rows than room.
class RowBuffer {
 public:
  RowBuffer(std::size_t rows, std::size_t width, std::pmr::memory_resource& memory)
      : width_(width), values_(rows * width, &memory) {}

  std::size_t width() const { return width_; }
  std::span<float> rows(const Segment& segment) {
    return std::span(values_).subspan(segment.first * width_, segment.rows * width_);
  }
  Matrix matrix(const Segment& segment) { return {rows(segment).data(), segment.rows, width_, width_}; }
  ConstMatrix const_matrix(const Segment& segment) { return {rows(segment).data(), segment.rows, width_, width_}; }

 private:
  std::size_t width_;
  Floats values_;
};

/// The MLP's arithmetic, layer by layer: ReLU between layers, the last one linear. What holds parameters
/// and gradients, and when, is the caller's affair.
///
/// Memory is taken from `scratch` once, at the start: room for `rows` rows of every layer's values and, where there
/// is to be a backward pass, of their derivatives and for the sums over that many segments.
class Mlp {
 public:
  /// `segments`: 0 for a model that only goes forward, any number of segments at a time.
  Mlp(const Layout& layout, std::size_t rows, std::size_t segments, std::pmr::memory_resource& scratch);

  /// Where a segment's inputs go before forward(), and its outputs stand after the last layer's.
  std::span<float> inputs(const Segment& segment) { return values_.front().rows(segment); }
  std::span<const float> outputs(const Segment& segment) { return values_.back().rows(segment); }

  /// Values of layer `index` for all segments, from those of the layer below. `parameters`: W and b of that layer.
  void forward(std::size_t index, std::span<const float> parameters, std::span<const Segment> segments);

  /// Derivative of the loss, a sum over rows, by the outputs: to be filled in before the first backward().
  std::span<float> output_derivative(const Segment& segment);

  /// Gradient of layer `index`, summed over the segments along the canonical tree, into `gradient` (W, then b).
  /// Layers go from last to first.
  void gradient(std::size_t index, std::span<const Segment> segments, std::span<float> gradient);

  /// After gradient(index): carries the derivative down to the layer below, through `parameters` and the ReLU.
  void backward(std::size_t index, std::span<const float> parameters, std::span<const Segment> segments);

 private:
  void weight_gradient(std::size_t index, std::span<const Segment> segments, std::span<float> gradient);
  void bias_gradient(std::size_t index, std::span<const Segment> segments, std::span<float> gradient);

  const Layout* layout_;
  std::vector<RowBuffer> values_;       // values_[i]: what layer i reads; the last one: the outputs.
  std::vector<RowBuffer> derivatives_;  // derivatives_[i]: by the result of layer i.
  Floats waiting_sums_;                 // The canonical tree's stack, above its bottom.
  Floats transposed_;                   // A few rows of a layer's W.
};

}  // namespace shoal::train

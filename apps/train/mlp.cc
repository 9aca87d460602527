// Forward and backward of one layer at a time. The weight gradient of a segment is a product of its own; the sums
// over segments go along the canonical tree. That is done for a few rows of W at a time, so that the sums that wait
// for their partners stay in cache and cost little memory:
//
//     for rows r .. r+63 of W:   for segments in the tree's order:   values[:, r..r+63]^T derivative
//
// On the way back a few rows of W at a time are transposed, once for all segments.

#include "train/mlp.h"

#include <algorithm>
#include <cassert>

#include "train/tree.h"

namespace shoal::train {
namespace {

constexpr std::size_t kRowsAtATime = 64;

void add(std::span<float> into, std::span<const float> from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] += from[i];
}

void add_bias(std::span<float> rows, std::span<const float> bias) {
  for (std::size_t row = 0; row < rows.size(); row += bias.size())
    for (std::size_t i = 0; i < bias.size(); ++i) rows[row + i] += bias[i];
}

/// max(x, 0), but NaN stays NaN.
void relu(std::span<float> values) {
  for (float& value : values) value = value < 0.0F ? 0.0F : value;
}

/// Tree sums in a stack of equal parts: the bottom is the caller's, the others wait in `above`.
class SumStack {
 public:
  SumStack(std::span<float> bottom, std::span<float> above) : bottom_(bottom), above_(above) {}

  std::span<float> at(std::size_t depth) const {
    return depth == 0 ? bottom_ : above_.subspan((depth - 1) * bottom_.size(), bottom_.size());
  }
  void combine(std::size_t depth) const { add(at(depth), at(depth + 1)); }

 private:
  std::span<float> bottom_;
  std::span<float> above_;
};

}  // namespace

Mlp::Mlp(const Layout& layout, std::size_t rows, std::size_t segments, std::pmr::memory_resource& scratch)
    : layout_(&layout), waiting_sums_(&scratch), transposed_(&scratch) {
  for (const std::size_t width : layout.dims()) values_.emplace_back(rows, width, scratch);
  if (segments == 0) return;
  std::size_t largest_part = 0;
  for (const Layer& layer : layout.layers()) {
    derivatives_.emplace_back(rows, layer.outputs, scratch);
    largest_part = std::max(largest_part, std::min(kRowsAtATime, layer.inputs) * layer.outputs);
  }
  std::size_t largest_transposed = 0;
  for (std::size_t i = 1; i < layout.layers().size(); ++i)
    largest_transposed =
        std::max(largest_transposed, std::min(kRowsAtATime, layout.layers()[i].inputs) * layout.layers()[i].outputs);
  transposed_.resize(largest_transposed);
  waiting_sums_.resize((canonical_tree_depth(segments) - 1) * largest_part);
}

void Mlp::forward(std::size_t index, std::span<const float> parameters, std::span<const Segment> segments) {
  const Layer& layer = layout_->layers()[index];
  assert(parameters.size() == layer.size());
  const ConstMatrix weights{parameters.data(), layer.inputs, layer.outputs, layer.outputs};
  const bool is_last = index + 1 == layout_->layers().size();
  for (const Segment& segment : segments) {
    multiply(values_[index].const_matrix(segment), weights, values_[index + 1].matrix(segment));
    const auto results = values_[index + 1].rows(segment);
    add_bias(results, parameters.subspan(layer.weights()));
    if (!is_last) relu(results);
  }
}

std::span<float> Mlp::output_derivative(const Segment& segment) { return derivatives_.back().rows(segment); }

void Mlp::gradient(std::size_t index, std::span<const Segment> segments, std::span<float> gradient) {
  const Layer& layer = layout_->layers()[index];
  assert(gradient.size() == layer.size());
  weight_gradient(index, segments, gradient.first(layer.weights()));
  bias_gradient(index, segments, gradient.subspan(layer.weights()));
}

void Mlp::weight_gradient(std::size_t index, std::span<const Segment> segments, std::span<float> gradient) {
  const Layer& layer = layout_->layers()[index];
  for (std::size_t first = 0; first < layer.inputs; first += kRowsAtATime) {
    const std::size_t rows = std::min(kRowsAtATime, layer.inputs - first);
    const SumStack sums(gradient.subspan(first * layer.outputs, rows * layer.outputs), waiting_sums_);
    const auto product_of = [&](std::size_t term, std::size_t depth) {
      ConstMatrix values = values_[index].const_matrix(segments[term]);
      values.data += first;
      values.columns = rows;
      multiply_transposed_left(values, derivatives_[index].const_matrix(segments[term]),
                               {sums.at(depth).data(), rows, layer.outputs, layer.outputs});
    };
    walk_canonical_tree(segments.size(), product_of, [&](std::size_t depth) { sums.combine(depth); });
  }
}

void Mlp::bias_gradient(std::size_t index, std::span<const Segment> segments, std::span<float> gradient) {
  const SumStack sums(gradient, waiting_sums_);
  const auto sum_of = [&](std::size_t term, std::size_t depth) {
    const auto into = sums.at(depth);
    std::fill(into.begin(), into.end(), 0.0F);
    const auto rows = derivatives_[index].rows(segments[term]);
    for (std::size_t row = 0; row < rows.size(); row += into.size()) add(into, rows.subspan(row, into.size()));
  };
  walk_canonical_tree(segments.size(), sum_of, [&](std::size_t depth) { sums.combine(depth); });
}

void Mlp::backward(std::size_t index, std::span<const float> parameters, std::span<const Segment> segments) {
  assert(index > 0);
  const Layer& layer = layout_->layers()[index];
  for (std::size_t first = 0; first < layer.inputs; first += kRowsAtATime) {
    const std::size_t rows = std::min(kRowsAtATime, layer.inputs - first);
    const Matrix transposed{transposed_.data(), layer.outputs, rows, rows};
    transpose({parameters.data() + first * layer.outputs, rows, layer.outputs, layer.outputs}, transposed);
    for (const Segment& segment : segments) {
      Matrix below = derivatives_[index - 1].matrix(segment);
      below.data += first;
      below.columns = rows;
      multiply(derivatives_[index].const_matrix(segment), {transposed.data, layer.outputs, rows, rows}, below);
    }
  }
  for (const Segment& segment : segments) {
    const auto below = derivatives_[index - 1].rows(segment);
    const auto values = values_[index].rows(segment);
    for (std::size_t i = 0; i < below.size(); ++i) below[i] = values[i] > 0.0F ? below[i] : 0.0F;
  }
}

}  // namespace shoal::train

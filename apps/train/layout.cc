#include "train/layout.h"

#include <algorithm>

namespace shoal::train {

Layout::Layout(std::span<const std::size_t> dims) : dims_(dims.begin(), dims.end()) {
  for (std::size_t i = 0; i + 1 < dims_.size(); ++i) {
    layers_.push_back({.inputs = dims_[i], .outputs = dims_[i + 1], .offset = parameters_});
    parameters_ += layers_.back().size();
  }
}

std::size_t Layout::largest_layer() const {
  std::size_t largest = 0;
  for (const Layer& layer : layers_) largest = std::max(largest, layer.size());
  return largest;
}

std::size_t Layout::widest() const { return *std::max_element(dims_.begin(), dims_.end()); }

}  // namespace shoal::train

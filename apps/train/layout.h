#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace shoal::train {

/// One layer of the flat parameter vector: W (inputs x outputs, row-major), then b (outputs).
struct Layer {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::size_t offset = 0;  ///< Of W in the flat vector.

  std::size_t weights() const { return inputs * outputs; }
  std::size_t size() const { return weights() + outputs; }
};

/// How the parameters of an MLP of these widths lie in one flat vector: W0, b0, W1, b1, ...
class Layout {
 public:
  /// `dims`: at least two widths, none of them 0.
  explicit Layout(std::span<const std::size_t> dims);

  const std::vector<std::size_t>& dims() const { return dims_; }
  const std::vector<Layer>& layers() const { return layers_; }
  std::size_t parameters() const { return parameters_; }
  std::size_t largest_layer() const;
  std::size_t widest() const;
  std::size_t inputs() const { return dims_.front(); }
  std::size_t outputs() const { return dims_.back(); }

 private:
  std::vector<std::size_t> dims_;
  std::vector<Layer> layers_;
  std::size_t parameters_ = 0;
};

}  // namespace shoal::train

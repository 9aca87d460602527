#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "train/memory.h"

namespace shoal::train {

enum class OptimizerKind { sgd, adam };

struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::adam;
  float learning_rate = 0.001F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
};

/// Updates parameters from mean gradients, element by element: an element's result depends on that element's own
/// history alone, so shards of any size update exactly as the whole does. Holds the state of `elements` parameters
/// (none for SGD, two floats each for Adam).
class Optimizer {
 public:
  Optimizer(const OptimizerSettings& settings, std::size_t elements, std::pmr::memory_resource& memory);

  /// Starts update number 1, 2, ...: every element is updated once in it.
  void begin_update();

  /// Updates the elements whose state begins at `first`. `gradient_sum` / `weight` is their mean gradient.
  void update(std::size_t first, std::span<float> parameters, std::span<const float> gradient_sum, float weight);

 private:
  OptimizerSettings settings_;
  Floats momentum_;
  Floats variance_;
  std::uint64_t updates_ = 0;
  float step_size_ = 0.0F;       // Learning rate, corrected for the bias of the momentum.
  float variance_scale_ = 1.0F;  // Corrects the bias of the variance.
};

}  // namespace shoal::train

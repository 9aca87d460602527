#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "train/memory.h"

namespace shoal::train {

enum class OptimizerKind { sgd, momentum, adam, adamw };

inline constexpr std::array kOptimizers{OptimizerKind::sgd, OptimizerKind::momentum, OptimizerKind::adam,
                                        OptimizerKind::adamw};

std::string_view name(OptimizerKind kind);

/// Floats of state that it keeps for each parameter: its moments.
std::size_t moments_of(OptimizerKind kind);

struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::adam;
  float weight_decay = 0.0F;  ///< adamw: of the parameter itself; the others: added to the gradient (L2).
  float momentum = 0.9F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
};

/// Makes of a summed gradient the one to step by: divided by the true weight, then made shorter where it is clipped.
struct GradientScale {
  float weight = 1.0F;
  float clip = 1.0F;

  float operator()(float sum) const { return clip == 1.0F ? sum / weight : sum / weight * clip; }
};

/// Updates parameters from summed gradients, element by element: an element's result depends on that element's own
/// history alone, so shards of any size update exactly as the whole does. Holds the state of `elements` parameters.
class Optimizer {
 public:
  Optimizer(const OptimizerSettings& settings, std::size_t elements, std::pmr::memory_resource& memory);

  /// Starts the next update, in which every element is updated once.
  void begin_update(float learning_rate);

  /// Updates the elements whose state begins at `first`.
  void update(std::size_t first, std::span<float> parameters, std::span<const float> gradient_sum, GradientScale scale);

  /// Updates made so far, and what they left: moment 0 .. moments_of(kind) - 1, one float for each element.
  std::uint64_t updates() const { return updates_; }
  void set_updates(std::uint64_t updates) { updates_ = updates; }
  std::span<float> moment(std::size_t index) { return index == 0 ? momentum_ : variance_; }

 private:
  void sgd(std::span<float> parameters, std::span<const float> gradient_sum, GradientScale scale) const;
  void heavy_ball(std::span<float> momentum, std::span<float> parameters, std::span<const float> gradient_sum,
                  GradientScale scale) const;
  void adam(std::size_t first, std::span<float> parameters, std::span<const float> gradient_sum, GradientScale scale);

  OptimizerSettings settings_;
  Floats momentum_;
  Floats variance_;
  std::uint64_t updates_ = 0;
  float learning_rate_ = 0.0F;
  float step_size_ = 0.0F;       // Learning rate, corrected for the bias of the momentum.
  float variance_scale_ = 1.0F;  // Corrects the bias of the variance.
};

}  // namespace shoal::train

// SGD: p -= lr g. Adam (Kingma and Ba, 2015): m = b1 m + (1-b1) g, v = b2 v + (1-b2) g^2,
// p -= lr m/(1-b1^t) / (sqrt(v/(1-b2^t)) + eps). Only additions, products, quotients and square roots, which
// IEEE 754 rounds alike in vector bodies and tails.

#include "train/optimizer.h"

#include <cassert>
#include <cmath>

namespace shoal::train {

Optimizer::Optimizer(const OptimizerSettings& settings, std::size_t elements, std::pmr::memory_resource& memory)
    : settings_(settings), momentum_(&memory), variance_(&memory) {
  if (settings.kind == OptimizerKind::adam) {
    momentum_.resize(elements);
    variance_.resize(elements);
  }
}

void Optimizer::begin_update() {
  ++updates_;
  const auto t = static_cast<double>(updates_);
  step_size_ = static_cast<float>(settings_.learning_rate / (1.0 - std::pow(settings_.beta1, t)));
  variance_scale_ = static_cast<float>(1.0 / (1.0 - std::pow(settings_.beta2, t)));
}

void Optimizer::update(std::size_t first, std::span<float> parameters, std::span<const float> gradient_sum,
                       float weight) {
  assert(parameters.size() == gradient_sum.size());
  if (settings_.kind == OptimizerKind::sgd) {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i] -= settings_.learning_rate * (gradient_sum[i] / weight);
    return;
  }
  const auto momentum = std::span(momentum_).subspan(first, parameters.size());
  const auto variance = std::span(variance_).subspan(first, parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const float gradient = gradient_sum[i] / weight;
    momentum[i] = settings_.beta1 * momentum[i] + (1.0F - settings_.beta1) * gradient;
    variance[i] = settings_.beta2 * variance[i] + (1.0F - settings_.beta2) * gradient * gradient;
    parameters[i] -= step_size_ * momentum[i] / (std::sqrt(variance[i] * variance_scale_) + settings_.epsilon);
  }
}

}  // namespace shoal::train

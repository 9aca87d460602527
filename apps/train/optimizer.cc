// With g the mean gradient, to which all but AdamW add the decayed parameter, weight_decay p:
//
//     SGD        p -= lr g
//     momentum   m = mu m + g, p -= lr m   (Polyak, 1964; as PyTorch has it, without dampening)
//     Adam       m = b1 m + (1-b1) g, v = b2 v + (1-b2) g^2,
//                p -= lr m/(1-b1^t) / (sqrt(v/(1-b2^t)) + eps)   (Kingma and Ba, 2015)
//     AdamW      p -= lr weight_decay p, then as Adam   (Loshchilov and Hutter, 2019)
//
// Only additions, products, quotients and square roots, which IEEE 754 rounds alike in vector bodies and tails.

#include "train/optimizer.h"

#include <cassert>
#include <cmath>

namespace shoal::train {

std::string_view name(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::sgd:
      return "sgd";
    case OptimizerKind::momentum:
      return "momentum";
    case OptimizerKind::adam:
      return "adam";
    case OptimizerKind::adamw:
      return "adamw";
  }
  return "";
}

std::size_t moments_of(OptimizerKind kind) {
  if (kind == OptimizerKind::sgd) return 0;
  return kind == OptimizerKind::momentum ? 1 : 2;
}

Optimizer::Optimizer(const OptimizerSettings& settings, std::size_t elements, std::pmr::memory_resource& memory)
    : settings_(settings), momentum_(&memory), variance_(&memory) {
  if (moments_of(settings.kind) >= 1) momentum_.resize(elements);
  if (moments_of(settings.kind) >= 2) variance_.resize(elements);
}

void Optimizer::begin_update(float learning_rate) {
  ++updates_;
  const auto t = static_cast<double>(updates_);
  learning_rate_ = learning_rate;
  step_size_ = static_cast<float>(learning_rate / (1.0 - std::pow(settings_.beta1, t)));
  variance_scale_ = static_cast<float>(1.0 / (1.0 - std::pow(settings_.beta2, t)));
}

void Optimizer::update(std::size_t first, std::span<float> parameters, std::span<const float> gradient_sum,
                       GradientScale scale) {
  assert(parameters.size() == gradient_sum.size());
  switch (settings_.kind) {
    case OptimizerKind::sgd:
      return sgd(parameters, gradient_sum, scale);
    case OptimizerKind::momentum:
      return heavy_ball(std::span(momentum_).subspan(first, parameters.size()), parameters, gradient_sum, scale);
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      return adam(first, parameters, gradient_sum, scale);
  }
}

void Optimizer::sgd(std::span<float> parameters, std::span<const float> gradient_sum, GradientScale scale) const {
  const float decay = settings_.weight_decay;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const float mean = scale(gradient_sum[i]);
    parameters[i] -= learning_rate_ * (decay == 0.0F ? mean : mean + decay * parameters[i]);
  }
}

void Optimizer::heavy_ball(std::span<float> momentum, std::span<float> parameters, std::span<const float> gradient_sum,
                           GradientScale scale) const {
  const float decay = settings_.weight_decay;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const float mean = scale(gradient_sum[i]);
    momentum[i] = settings_.momentum * momentum[i] + (decay == 0.0F ? mean : mean + decay * parameters[i]);
    parameters[i] -= learning_rate_ * momentum[i];
  }
}

void Optimizer::adam(std::size_t first, std::span<float> parameters, std::span<const float> gradient_sum,
                     GradientScale scale) {
  const auto momentum = std::span(momentum_).subspan(first, parameters.size());
  const auto variance = std::span(variance_).subspan(first, parameters.size());
  const bool decoupled = settings_.kind == OptimizerKind::adamw;
  const float kept = decoupled ? 1.0F - learning_rate_ * settings_.weight_decay : 1.0F;
  const float decay = decoupled ? 0.0F : settings_.weight_decay;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const float mean = scale(gradient_sum[i]);
    const float gradient = decay == 0.0F ? mean : mean + decay * parameters[i];
    momentum[i] = settings_.beta1 * momentum[i] + (1.0F - settings_.beta1) * gradient;
    variance[i] = settings_.beta2 * variance[i] + (1.0F - settings_.beta2) * gradient * gradient;
    parameters[i] = kept * parameters[i] -
                    step_size_ * momentum[i] / (std::sqrt(variance[i] * variance_scale_) + settings_.epsilon);
  }
}

}  // namespace shoal::train

// Losses are sums: the mean is taken once, of the whole batch, by whoever knows its true size. Then short lanes,
// short batches and empty ranks weigh what they should.

#include "train/loss.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace shoal::train {

double softmax_cross_entropy(std::span<const float> outputs, std::span<const std::uint8_t> labels,
                             std::span<float> derivative) {
  if (labels.empty()) return 0.0;
  const std::size_t classes = outputs.size() / labels.size();
  assert(outputs.size() == classes * labels.size() && derivative.size() == outputs.size());
  double loss = 0.0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto scores = outputs.subspan(row * classes, classes);
    const auto slopes = derivative.subspan(row * classes, classes);
    // Less the greatest score, so that no exponential overflows.
    const double greatest = *std::max_element(scores.begin(), scores.end());
    double total = 0.0;
    for (const float score : scores) total += std::exp(static_cast<double>(score) - greatest);
    for (std::size_t i = 0; i < classes; ++i)
      slopes[i] = static_cast<float>(std::exp(static_cast<double>(scores[i]) - greatest) / total -
                                     (i == labels[row] ? 1.0 : 0.0));
    loss += std::log(total) - (static_cast<double>(scores[labels[row]]) - greatest);
  }
  return loss;
}

double squared_error(std::span<const float> outputs, std::span<const float> targets, std::span<float> derivative) {
  assert(outputs.size() == targets.size() && outputs.size() == derivative.size());
  double loss = 0.0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const float difference = outputs[i] - targets[i];
    loss += static_cast<double>(difference) * static_cast<double>(difference);
    derivative[i] = 2.0F * difference;
  }
  return loss;
}

std::size_t count_correct(std::span<const float> outputs, std::span<const std::uint8_t> labels) {
  if (labels.empty()) return 0;
  const std::size_t classes = outputs.size() / labels.size();
  std::size_t correct = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto scores = outputs.subspan(row * classes, classes);
    const auto greatest = std::max_element(scores.begin(), scores.end()) - scores.begin();
    if (static_cast<std::size_t>(greatest) == labels[row]) ++correct;
  }
  return correct;
}

}  // namespace shoal::train

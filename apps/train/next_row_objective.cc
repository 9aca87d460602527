#include "train/next_row_objective.h"

#include "train/loss.h"

namespace shoal::train {

void NextRowObjective::load(std::span<const std::int64_t> samples, std::span<float> inputs) {
  std::size_t first = 0;
  for (const std::int64_t sample : samples) {
    const std::size_t size = rows(sample) * sequences_.columns();
    sequences_.load_inputs(static_cast<std::size_t>(sample), inputs.subspan(first, size));
    first += size;
  }
}

double NextRowObjective::loss(std::span<const std::int64_t> samples, std::span<const float> /*inputs*/,
                              std::span<const float> outputs, std::span<float> derivative) {
  double loss = 0.0;
  std::size_t first = 0;
  for (const std::int64_t sample : samples) {
    const auto targets = std::span(targets_).first(rows(sample) * sequences_.columns());
    sequences_.load_targets(static_cast<std::size_t>(sample), targets);
    loss += squared_error(outputs.subspan(first, targets.size()), targets, derivative.subspan(first, targets.size()));
    first += targets.size();
  }
  return loss;
}

}  // namespace shoal::train

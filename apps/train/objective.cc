#include "train/objective.h"

#include "train/loss.h"

namespace shoal::train {

std::string_view name(Task task) {
  switch (task) {
    case Task::classify:
      return "classify";
    case Task::autoencode:
      return "autoencode";
    case Task::next_row:
      return "next-row";
  }
  return "";
}

void ImageObjective::load(std::span<const std::int64_t> samples, std::span<float> inputs) {
  for (std::size_t row = 0; row < samples.size(); ++row)
    data_->load(static_cast<std::size_t>(samples[row]), 1, inputs.subspan(row * data_->features));
}

double ImageObjective::loss(std::span<const std::int64_t> samples, std::span<const float> inputs,
                            std::span<const float> outputs, std::span<float> derivative) {
  if (task_ == Task::autoencode) return squared_error(outputs, inputs, derivative);
  labels_.clear();
  for (const std::int64_t sample : samples) labels_.push_back(data_->labels[static_cast<std::size_t>(sample)]);
  return softmax_cross_entropy(outputs, labels_, derivative);
}

}  // namespace shoal::train

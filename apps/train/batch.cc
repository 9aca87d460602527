#include "train/batch.h"

#include "train/loss.h"

namespace shoal::train {

double ImageBatch::weight() const {
  const auto samples = static_cast<double>(ids_.size());
  return task_ == Task::classify ? samples : samples * static_cast<double>(features_);
}

void ImageBatch::load(const Lane& lane, std::span<float> inputs) {
  for (std::size_t row = 0; row < lane.rows.rows; ++row)
    normalise(std::span(data_->pixels).subspan(sample(lane, row) * features_, features_),
              inputs.subspan(row * features_, features_));
}

double ImageBatch::loss(const Lane& lane, std::span<const float> inputs, std::span<const float> outputs,
                        std::span<float> derivative) {
  if (task_ == Task::autoencode) return squared_error(outputs, inputs, derivative);
  labels_.clear();
  for (std::size_t row = 0; row < lane.rows.rows; ++row) labels_.push_back(data_->labels[sample(lane, row)]);
  return softmax_cross_entropy(outputs, labels_, derivative);
}

}  // namespace shoal::train

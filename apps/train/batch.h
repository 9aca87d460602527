#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "train/dataset.h"
#include "train/lanes.h"

namespace shoal::train {

enum class Task { classify, autoencode };

/// A batch as the lanes of a gradient step see it: what goes in, and what is to come out.
class Batch {
 public:
  Batch() = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  virtual ~Batch() = default;

  /// Samples of the batch, over all lanes.
  virtual std::size_t size() const = 0;

  /// What the summed loss and gradient are to be divided by for their means.
  virtual double weight() const = 0;

  /// Fills the lane's rows of inputs.
  virtual void load(const Lane& lane, std::span<float> inputs) = 0;

  /// The lane's loss, a sum, and its derivative by the outputs.
  virtual double loss(const Lane& lane, std::span<const float> inputs, std::span<const float> outputs,
                      std::span<float> derivative) = 0;
};

/// Samples of a data set by their ids. Classify: softmax cross-entropy, the mean over samples. Autoencode: the
/// squared error of outputs against inputs, the mean over samples and outputs.
class ImageBatch : public Batch {
 public:
  ImageBatch(Task task, const Split& data, std::size_t features) : task_(task), data_(&data), features_(features) {}

  /// The batch is of these samples from now on; the ids are not copied.
  void select(std::span<const std::int64_t> ids) { ids_ = ids; }

  std::size_t size() const override { return ids_.size(); }
  double weight() const override;
  void load(const Lane& lane, std::span<float> inputs) override;
  double loss(const Lane& lane, std::span<const float> inputs, std::span<const float> outputs,
              std::span<float> derivative) override;

 private:
  std::size_t sample(const Lane& lane, std::size_t row) const {
    return static_cast<std::size_t>(ids_[lane.position(row)]);
  }

  Task task_;
  const Split* data_;
  std::size_t features_;
  std::span<const std::int64_t> ids_;
  std::vector<std::uint8_t> labels_;
};

}  // namespace shoal::train

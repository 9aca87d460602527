#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "train/dataset.h"

namespace shoal::train {

enum class Task { classify, autoencode, next_row };

std::string_view name(Task task);

/// What the model is to make of samples, and how far it is off. A sample is one or more rows of the model's inputs,
/// and all rows weigh the same.
class Objective {
 public:
  Objective() = default;
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;
  virtual ~Objective() = default;

  /// Rows of a sample, perhaps 0, and the most that any has.
  virtual std::size_t rows(std::int64_t sample) const = 0;
  virtual std::size_t most_rows() const = 0;
  /// Whether every sample has so many.
  virtual bool is_uniform() const { return false; }

  /// What the summed loss and gradient of one row are to be divided by for their means.
  virtual double weight_of_row() const = 0;

  /// Fills in the rows of these samples, one sample after the other.
  virtual void load(std::span<const std::int64_t> samples, std::span<float> inputs) = 0;

  /// The loss of these rows, a sum, and its derivative by the outputs.
  virtual double loss(std::span<const std::int64_t> samples, std::span<const float> inputs,
                      std::span<const float> outputs, std::span<float> derivative) = 0;
};

/// Samples of a data set, a row each. Classify: softmax cross-entropy, the mean over samples. Autoencode: the squared
/// error of outputs against inputs, the mean over samples and outputs.
class ImageObjective : public Objective {
 public:
  ImageObjective(Task task, const Split& data) : task_(task), data_(&data) {}

  std::size_t rows(std::int64_t /*sample*/) const override { return 1; }
  std::size_t most_rows() const override { return 1; }
  bool is_uniform() const override { return true; }
  double weight_of_row() const override { return task_ == Task::classify ? 1.0 : static_cast<double>(data_->features); }
  void load(std::span<const std::int64_t> samples, std::span<float> inputs) override;
  double loss(std::span<const std::int64_t> samples, std::span<const float> inputs, std::span<const float> outputs,
              std::span<float> derivative) override;

 private:
  Task task_;
  const Split* data_;
  std::vector<std::uint8_t> labels_;
};

}  // namespace shoal::train

#pragma once

#include <vector>

#include "train/objective.h"
#include "train/sequences.h"

namespace shoal::train {

/// From each row of an image that is not blank the next one: the squared error, the mean over all predicted rows and
/// their columns.
class NextRowObjective : public Objective {
 public:
  NextRowObjective(const Split& data, std::size_t columns)
      : sequences_(data, columns), targets_(sequences_.most_tokens() * columns) {}

  std::size_t rows(std::int64_t sample) const override { return sequences_.tokens(static_cast<std::size_t>(sample)); }
  std::size_t most_rows() const override { return sequences_.most_tokens(); }
  double weight_of_row() const override { return static_cast<double>(sequences_.columns()); }
  void load(std::span<const std::int64_t> samples, std::span<float> inputs) override;
  double loss(std::span<const std::int64_t> samples, std::span<const float> inputs, std::span<const float> outputs,
              std::span<float> derivative) override;

 private:
  Sequences sequences_;
  std::vector<float> targets_;  // Of one sample.
};

}  // namespace shoal::train

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/dataset.h"

namespace shoal::train {

/// Samples as sequences of varying length: the rows of each that are not blank (all 0), in order. From each row but the
/// last the next one is to be predicted, so a sequence of L rows has L - 1 tokens, and one of a single row or none has 0.
class Sequences {
 public:
  /// `data`, of rows of so many columns, must outlive it.
  Sequences(const Split& data, std::size_t columns);

  std::size_t columns() const { return columns_; }
  std::size_t tokens(std::size_t sample) const { return tokens_[sample]; }
  std::size_t most_tokens() const { return most_tokens_; }

  /// tokens x columns values: the rows that are shown, or those that are to follow.
  void load_inputs(std::size_t sample, std::span<float> out) const { load(sample, 0, out); }
  void load_targets(std::size_t sample, std::span<float> out) const { load(sample, 1, out); }

 private:
  /// The rows that are not blank, from the `skipped` th on, as far as `out` goes.
  void load(std::size_t sample, std::size_t skipped, std::span<float> out) const;

  const Split* data_;
  std::size_t columns_;
  std::vector<std::uint32_t> tokens_;
  std::size_t most_tokens_ = 0;
};

}  // namespace shoal::train

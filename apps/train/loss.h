#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shoal::train {

/// Softmax cross-entropy of rows of `classes` outputs against one label each: returns the sum over rows (not the mean)
/// and writes its derivative by the outputs.
double softmax_cross_entropy(std::span<const float> outputs, std::span<const std::uint8_t> labels,
                             std::span<float> derivative);

/// Sum over all elements of (output - target)^2, and its derivative by the outputs.
double squared_error(std::span<const float> outputs, std::span<const float> targets, std::span<float> derivative);

/// Rows whose greatest output (the first, of equals) is their label's.
std::size_t count_correct(std::span<const float> outputs, std::span<const std::uint8_t> labels);

}  // namespace shoal::train

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "train/layout.h"

namespace shoal::train {

/// The He start of parameters [first, first + out.size()) of one layer (0 is its W[0][0]): weights are normal with
/// standard deviation sqrt(2 / inputs), biases 0. A parameter depends on the seed and its place in the flat
/// vector alone, so every world size, stage and shard starts from the same bits.
void initial_parameters(const Layer& layer, std::uint64_t seed, std::size_t first, std::span<float> out);

}  // namespace shoal::train

#include "train/initial.h"

#include <cmath>

#include "train/philox.h"

namespace shoal::train {

void initial_parameters(const Layer& layer, std::uint64_t seed, std::size_t first, std::span<float> out) {
  const CounterGenerator generator(seed, Purpose::parameters);
  const double deviation = std::sqrt(2.0 / static_cast<double>(layer.inputs));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t place = first + i;
    out[i] = place < layer.weights() ? static_cast<float>(generator.normal(layer.offset + place) * deviation) : 0.0F;
  }
}

}  // namespace shoal::train

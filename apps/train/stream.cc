#include "train/stream.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "train/philox.h"

namespace shoal::train {

std::vector<std::int64_t> epoch_order(std::uint64_t seed, std::uint32_t epoch, std::size_t samples) {
  std::vector<std::int64_t> order(samples);
  fill_epoch_order(seed, epoch, order);
  return order;
}

void fill_epoch_order(std::uint64_t seed, std::uint32_t epoch, std::span<std::int64_t> order) {
  const CounterGenerator generator(seed, Purpose::order, epoch);
  std::uint64_t drawn = 0;
  // Uniform in [0, bound). 2^64 mod bound of all words are surplus; the lowest ones are refused.
  const auto below = [&](std::uint64_t bound) {
    const std::uint64_t surplus = (0 - bound) % bound;
    while (true) {
      const std::uint64_t word = generator.word(drawn++);
      if (word >= surplus) return word % bound;
    }
  };
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t last = order.size(); last > 1; --last) std::swap(order[last - 1], order[below(last)]);
}

SampleStream::SampleStream(std::uint64_t seed, std::size_t samples, std::size_t batch)
    : seed_(seed), batch_(batch), order_(epoch_order(seed, 0, samples)) {}

SampleStream::SampleStream(const plan::Phase& phase, int world) : seed_(0), batch_(phase.global_batch) {
  const auto ranks = static_cast<std::uint64_t>(world);
  const std::uint64_t samples = plan::samples_read(phase, ranks);
  order_.reserve(phase.updates * phase.global_batch);
  for (std::uint64_t update = 0; update < phase.updates; ++update) {
    const auto batch = plan::step_batch(phase, update, ranks, samples);
    order_.insert(order_.end(), batch.begin(), batch.end());
  }
}

std::span<const std::int64_t> SampleStream::next() {
  if (position_ == order_.size()) {
    fill_epoch_order(seed_, ++epoch_, order_);
    position_ = 0;
  }
  const std::size_t count = std::min(batch_, order_.size() - position_);
  const auto batch = std::span(order_).subspan(position_, count);
  position_ += count;
  return batch;
}

}  // namespace shoal::train

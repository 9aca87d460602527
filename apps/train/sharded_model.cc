#include "train/sharded_model.h"

#include <algorithm>

#include "program/program.h"
#include "train/exact_norm.h"
#include "train/initial.h"

namespace shoal::train {

ShardedModel::ShardedModel(const Layout& layout, const ModelSettings& settings, Transport& transport,
                           MemoryAccounts& memory)
    : map_(layout, transport.rank(), transport.size()),
      settings_(settings),
      transport_(&transport),
      parameters_(map_, settings.stage, settings.precision, transport, memory),
      gradients_(shards_gradients() ? map_.elements() : layout.parameters(), &memory[MemoryUse::gradient]),
      room_(parameters_.needs_room() || has_gradient_room() ? layout.largest_layer() : 0, &memory.shared_scratch()),
      optimizer_(settings.optimizer, shards_optimizer() ? map_.elements() : layout.parameters(),
                 memory[MemoryUse::optimizer]) {}

void ShardedModel::start(std::uint64_t seed) {
  for (std::size_t layer = 0; layer < map_.layers(); ++layer) {
    const LayerState own = state(layer);
    initial_parameters(layout().layers()[layer], seed, own.begin, own.masters);
  }
  publish(0);
}

void ShardedModel::start(std::span<const float> all) {
  for (std::size_t layer = 0; layer < map_.layers(); ++layer) {
    const LayerState own = state(layer);
    const auto from = map_.whole(all, layer).subspan(own.begin, own.masters.size());
    std::copy(from.begin(), from.end(), own.masters.begin());
  }
  publish(0);
}

std::span<float> ShardedModel::room(std::size_t layer) {
  return std::span(room_).first(std::min(room_.size(), layout().layers()[layer].size()));
}

std::span<const float> ShardedModel::parameters(std::size_t layer) { return parameters_.working(layer, room(layer)); }

std::span<const float> ShardedModel::masters(std::size_t layer) { return parameters_.all_masters(layer, room(layer)); }

std::span<float> ShardedModel::gradient_room(std::size_t layer) {
  return has_gradient_room() ? room(layer) : map_.whole(std::span(gradients_), layer);
}

/// What an update takes of a layer's gradient.
std::span<float> ShardedModel::summed_gradient(std::size_t layer) {
  if (!shards_optimizer()) return map_.whole(std::span(gradients_), layer);
  return map_.own(std::span(gradients_), shards_gradients(), layer);
}

void ShardedModel::reduce_gradient(std::size_t layer, bool first) {
  std::span<float> reduced = gradient_room(layer);
  if (shards_optimizer())
    reduced = transport_->reduce_scatter(reduced);
  else
    transport_->all_reduce(reduced);
  if (!has_gradient_room()) return;  // It lies where it is kept.
  const auto kept = summed_gradient(layer);
  if (first)
    std::copy(reduced.begin(), reduced.end(), kept.begin());
  else
    std::transform(kept.begin(), kept.end(), reduced.begin(), kept.begin(), std::plus<>());
}

double ShardedModel::gradient_norm() {
  // At stage 0 every rank has the whole, and sums it for itself.
  const auto over_ranks = [&](auto&& combine) {
    if (shards_optimizer()) combine();
  };
  std::int64_t scale = -kNotFinite;
  for (std::size_t layer = 0; layer < map_.layers(); ++layer)
    scale = std::max(scale, squares_scale(summed_gradient(layer)));
  over_ranks([&] { scale = transport_->max(scale); });
  if (scale == kNotFinite) throw AgreedError("the gradient is not finite, and has no norm to clip it by");
  SumOfSquares squares{};
  for (std::size_t layer = 0; layer < map_.layers(); ++layer) {
    const SumOfSquares of_layer = scaled_squares(summed_gradient(layer), scale);
    for (std::size_t digit = 0; digit < squares.size(); ++digit) squares[digit] += of_layer[digit];
  }
  over_ranks([&] { squares = transport_->sum(squares); });
  return norm_of(squares, scale);
}

/// Where the optimizer's state of what this rank updates of a layer begins.
std::size_t ShardedModel::first_moment(std::size_t layer) const {
  return shards_optimizer() ? map_.shard_begin(layer) : layout().layers()[layer].offset;
}

LayerState ShardedModel::state(std::size_t layer) {
  LayerState state{.begin = shards_optimizer() ? map_.begin(layer) - layout().layers()[layer].offset : 0,
                   .masters = parameters_.masters(layer)};
  for (std::size_t moment = 0; moment < moments_of(settings_.optimizer.kind); ++moment)
    state.moments.push_back(optimizer_.moment(moment).subspan(first_moment(layer), state.masters.size()));
  return state;
}

LayerState ShardedModel::own_state(std::size_t layer) {
  LayerState state = this->state(layer);
  if (shards_optimizer()) return state;
  state.begin = map_.begin(layer) - layout().layers()[layer].offset;
  const auto own = [&](std::span<float> whole) { return whole.subspan(state.begin, map_.size(layer)); };
  state.masters = own(state.masters);
  for (std::span<float>& moment : state.moments) moment = own(moment);
  return state;
}

void ShardedModel::publish(std::uint64_t updates) {
  optimizer_.set_updates(updates);
  for (std::size_t layer = 0; layer < map_.layers(); ++layer) parameters_.publish(layer);
}

void ShardedModel::update(float learning_rate, GradientScale scale) {
  optimizer_.begin_update(learning_rate);
  for (std::size_t layer = 0; layer < map_.layers(); ++layer) {
    optimizer_.update(first_moment(layer), parameters_.masters(layer), summed_gradient(layer), scale);
    parameters_.publish(layer);
  }
}

}  // namespace shoal::train

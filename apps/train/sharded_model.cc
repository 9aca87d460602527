#include "train/sharded_model.h"

#include <algorithm>

#include "train/initial.h"

namespace shoal::train {
namespace {

std::size_t shard_elements(const Layout& layout, int rank, int ranks) {
  std::size_t total = 0;
  for (const Layer& layer : layout.layers()) total += Partition(layer.size(), ranks).size(rank);
  return total;
}

}  // namespace

ShardedModel::ShardedModel(const Layout& layout, int stage, const OptimizerSettings& settings, std::uint64_t seed,
                           Transport& transport, MemoryAccounts& memory)
    : layout_(&layout),
      stage_(stage),
      transport_(&transport),
      shard_elements_(shard_elements(layout, transport.rank(), transport.size())),
      parameters_(shards_parameters() ? shard_elements_ : layout.parameters(), &memory[MemoryUse::parameter]),
      gradients_(shards_gradients() ? shard_elements_ : layout.parameters(), &memory[MemoryUse::gradient]),
      room_(shards_gradients() ? layout.largest_layer() : 0, &memory[MemoryUse::scratch]),
      optimizer_(settings, shards_optimizer() ? shard_elements_ : layout.parameters(), memory[MemoryUse::optimizer]) {
  std::size_t shard_offset = 0;
  for (const Layer& layer : layout.layers()) {
    const Partition chunks(layer.size(), transport.size());
    places_.push_back(
        {.begin = chunks.begin(transport.rank()), .size = chunks.size(transport.rank()), .shard_offset = shard_offset});
    shard_offset += places_.back().size;
  }
  fill_initial(seed);
}

void ShardedModel::fill_initial(std::uint64_t seed) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (shards_parameters())
      initial_parameters(layout_->layers()[i], seed, places_[i].begin, own(parameters_, true, i));
    else
      initial_parameters(layout_->layers()[i], seed, 0, whole(parameters_, i));
  }
}

void ShardedModel::set_parameters(std::span<const float> all) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto layer = all.subspan(layout_->layers()[i].offset, layout_->layers()[i].size());
    const auto from = shards_parameters() ? layer.subspan(places_[i].begin, places_[i].size) : layer;
    const auto into = shards_parameters() ? own(parameters_, true, i) : whole(parameters_, i);
    std::copy(from.begin(), from.end(), into.begin());
  }
}

std::span<float> ShardedModel::whole(Floats& values, std::size_t layer) const {
  return std::span(values).subspan(layout_->layers()[layer].offset, layout_->layers()[layer].size());
}

std::span<float> ShardedModel::own(Floats& values, bool is_sharded, std::size_t layer) const {
  const Place& place = places_[layer];
  if (is_sharded) return std::span(values).subspan(place.shard_offset, place.size);
  return whole(values, layer).subspan(place.begin, place.size);
}

std::span<float> ShardedModel::room(std::size_t layer) {
  return std::span(room_).first(layout_->layers()[layer].size());
}

std::span<const float> ShardedModel::parameters(std::size_t layer) {
  if (!shards_parameters()) return whole(parameters_, layer);
  transport_->all_gather(own(parameters_, true, layer), room(layer));
  return room(layer);
}

std::span<float> ShardedModel::gradient_room(std::size_t layer) {
  return shards_gradients() ? room(layer) : whole(gradients_, layer);
}

void ShardedModel::reduce_gradient(std::size_t layer) {
  const auto gradient = gradient_room(layer);
  if (!shards_optimizer()) {
    transport_->all_reduce(gradient);
    return;
  }
  const auto reduced = transport_->reduce_scatter(gradient);
  if (shards_gradients()) std::copy(reduced.begin(), reduced.end(), own(gradients_, true, layer).begin());
}

void ShardedModel::update(float weight) {
  optimizer_.begin_update();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    update_layer(i, weight);
    if (shards_optimizer() && !shards_parameters()) transport_->all_gather(whole(parameters_, i));
  }
}

void ShardedModel::update_layer(std::size_t layer, float weight) {
  if (!shards_optimizer())
    optimizer_.update(layout_->layers()[layer].offset, whole(parameters_, layer), whole(gradients_, layer), weight);
  else
    optimizer_.update(places_[layer].shard_offset, own(parameters_, shards_parameters(), layer),
                      own(gradients_, shards_gradients(), layer), weight);
}

}  // namespace shoal::train

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/layout.h"
#include "train/memory.h"
#include "train/optimizer.h"
#include "train/parameter_store.h"
#include "train/shard_map.h"
#include "train/transport.h"

namespace shoal::train {

struct ModelSettings {
  int stage = 2;
  OptimizerSettings optimizer = {};
  Precision precision = Precision::f32;
  bool accumulates = false;  ///< Whether the gradients of several rounds are added up before an update.
};

/// A part of a layer as training goes on from it: the masters of its parameters, and the optimizer's moments.
struct LayerState {
  std::size_t begin = 0;  ///< Within the layer.
  std::span<float> masters = {};
  std::vector<std::span<float>> moments = {};
};

/// What one rank holds of parameters, gradients and optimizer state, and how it gets the rest.
///
///     stage   parameters   gradients    optimizer    after a layer's backward   after the update
///       0     whole        whole        whole        all_reduce                 -
///       1     whole        whole        own chunks   reduce_scatter             all_gather each layer
///       2     whole        own chunks   own chunks   reduce_scatter             all_gather each layer
///       3     own chunks   own chunks   own chunks   reduce_scatter             -, but all_gather before each use
///
/// A whole layer that a stage does not keep lives in one room for the largest layer, which is scratch and holds one
/// thing at a time: a layer's gradient until it is reduced, or its parameters until used. Where gradients of several
/// rounds are added up, each round's goes there first at every stage, and what is added up is what an update will need
/// of it, the own chunks from stage 1 on.
class ShardedModel {
 public:
  /// Parameters are 0 until they are written to masters() and published.
  ShardedModel(const Layout& layout, const ModelSettings& settings, Transport& transport, MemoryAccounts& memory);

  const Layout& layout() const { return map_.layout(); }
  const ShardMap& map() const { return map_; }

  /// All ranks together: He's start of this seed (initial.h), or these values of all parameters in flat order.
  void start(std::uint64_t seed);
  void start(std::span<const float> all);

  /// All ranks together: W and b of a layer, valid until the next call of this, of gradient_room() or of masters().
  std::span<const float> parameters(std::size_t layer);

  /// Where this rank's gradient of a layer goes.
  std::span<float> gradient_room(std::size_t layer);

  /// All ranks together: sums over ranks what stands in the gradient room, and keeps what this rank is to keep; unless
  /// it is the `first` since the last update, adds it to what is kept.
  void reduce_gradient(std::size_t layer, bool first = true);

  /// All ranks together: the Euclidean norm of the summed gradient, the same bits in every world and at every stage.
  /// Throws AgreedError if it is not finite.
  double gradient_norm();

  /// All ranks together: one optimizer step with the reduced gradients of all layers.
  void update(float learning_rate, GradientScale scale);

  /// What this rank updates of a layer, to be filled in before publish(); and what of it is its own, which no other rank
  /// calls so.
  LayerState state(std::size_t layer);
  LayerState own_state(std::size_t layer);

  /// All ranks together, after all states were filled in, by so many updates.
  void publish(std::uint64_t updates);

  /// All ranks together: the masters of a layer, f32 whatever the precision; valid as parameters() are.
  std::span<const float> masters(std::size_t layer);

 private:
  std::span<float> room(std::size_t layer);
  std::size_t first_moment(std::size_t layer) const;
  std::span<float> summed_gradient(std::size_t layer);
  bool has_gradient_room() const { return shards_gradients() || settings_.accumulates; }
  bool shards_optimizer() const { return settings_.stage >= 1; }
  bool shards_gradients() const { return settings_.stage >= 2; }

  ShardMap map_;
  ModelSettings settings_;
  Transport* transport_;
  ParameterStore parameters_;
  Floats gradients_;
  Floats room_;
  Optimizer optimizer_;
};

}  // namespace shoal::train

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/layout.h"
#include "train/memory.h"
#include "train/optimizer.h"
#include "train/transport.h"

namespace shoal::train {

/// What one rank holds of parameters, gradients and optimizer state, and how it gets the rest.
///
///     stage   parameters   gradients    optimizer    after a layer's backward   after the update
///       0     whole        whole        whole        all_reduce                 -
///       1     whole        whole        own chunks   reduce_scatter             all_gather each layer
///       2     whole        own chunks   own chunks   reduce_scatter             all_gather each layer
///       3     own chunks   own chunks   own chunks   reduce_scatter             -, but all_gather before each use
///
/// Each layer (W and b together) is cut by Partition(layer size, ranks); a rank's own chunks lie one after the other
/// in layer order. A whole layer that a stage does not keep lives in one room for the largest layer, which is scratch
/// and holds one thing at a time: a layer's gradient until it is reduced, or its gathered parameters until used.
class ShardedModel {
 public:
  ShardedModel(const Layout& layout, int stage, const OptimizerSettings& settings, std::uint64_t seed,
               Transport& transport, MemoryAccounts& memory);

  const Layout& layout() const { return *layout_; }

  /// Replaces the start by these values of all parameters, in flat order.
  void set_parameters(std::span<const float> all);

  /// All ranks together: W and b of a layer, valid until the next call of this or of gradient_room().
  std::span<const float> parameters(std::size_t layer);

  /// Where this rank's gradient of a layer goes.
  std::span<float> gradient_room(std::size_t layer);

  /// All ranks together: sums over ranks what stands in the gradient room, and keeps what this rank is to keep.
  void reduce_gradient(std::size_t layer);

  /// All ranks together: one optimizer step with the reduced gradients of all layers, divided by `weight`.
  void update(float weight);

 private:
  struct Place {
    std::size_t begin = 0;         ///< Of this rank's chunk, within the layer.
    std::size_t size = 0;          ///< Of that chunk.
    std::size_t shard_offset = 0;  ///< Of that chunk, within the rank's own chunks.
  };

  std::span<float> whole(Floats& values, std::size_t layer) const;
  std::span<float> own(Floats& values, bool is_sharded, std::size_t layer) const;
  std::span<float> room(std::size_t layer);
  void fill_initial(std::uint64_t seed);
  void update_layer(std::size_t layer, float weight);

  bool shards_optimizer() const { return stage_ >= 1; }
  bool shards_gradients() const { return stage_ >= 2; }
  bool shards_parameters() const { return stage_ >= 3; }

  const Layout* layout_;
  int stage_;
  Transport* transport_;
  std::vector<Place> places_;
  std::size_t shard_elements_;
  Floats parameters_;
  Floats gradients_;
  Floats room_;
  Optimizer optimizer_;
};

}  // namespace shoal::train

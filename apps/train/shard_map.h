#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/layout.h"

namespace shoal::train {

/// Which parameters are a rank's own: each layer (W and b together) is cut by Partition(layer size, ranks), and a rank's
/// own chunks lie one after the other in layer order where they are kept alone.
class ShardMap {
 public:
  /// `layout` must outlive it.
  ShardMap(const Layout& layout, int rank, int ranks);

  const Layout& layout() const { return *layout_; }
  std::size_t layers() const { return places_.size(); }
  /// Of all the own chunks together.
  std::size_t elements() const { return elements_; }

  /// The own chunk of a layer: where it begins in the flat vector of all parameters, and its size.
  std::size_t begin(std::size_t layer) const { return layout_->layers()[layer].offset + places_[layer].begin; }
  std::size_t size(std::size_t layer) const { return places_[layer].size; }
  /// Where it begins among the own chunks.
  std::size_t shard_begin(std::size_t layer) const { return places_[layer].shard_begin; }

  /// A layer in a vector of all parameters.
  template <class T>
  std::span<T> whole(std::span<T> values, std::size_t layer) const {
    return values.subspan(layout_->layers()[layer].offset, layout_->layers()[layer].size());
  }

  /// The own chunk of a layer in a vector of all parameters, or of the own chunks.
  template <class T>
  std::span<T> own(std::span<T> values, bool is_sharded, std::size_t layer) const {
    return values.subspan(is_sharded ? shard_begin(layer) : begin(layer), size(layer));
  }

 private:
  struct Place {
    std::size_t begin = 0;  // Within the layer.
    std::size_t size = 0;
    std::size_t shard_begin = 0;
  };

  const Layout* layout_;
  std::vector<Place> places_;
  std::size_t elements_ = 0;
};

}  // namespace shoal::train

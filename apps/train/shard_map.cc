#include "train/shard_map.h"

#include "shoal/collectives/partition.h"

namespace shoal::train {

ShardMap::ShardMap(const Layout& layout, int rank, int ranks) : layout_(&layout) {
  for (const Layer& layer : layout.layers()) {
    const Partition chunks(layer.size(), ranks);
    places_.push_back({.begin = chunks.begin(rank), .size = chunks.size(rank), .shard_begin = elements_});
    elements_ += places_.back().size;
  }
}

}  // namespace shoal::train

#pragma once

#include <cstddef>
#include <vector>

#include "train/batch.h"
#include "train/lanes.h"
#include "train/mlp.h"
#include "train/sharded_model.h"

namespace shoal::train {

/// One loss and gradient: each rank takes its lanes of a batch through the model and back, layer by layer.
class GradientStep {
 public:
  /// `largest_batch`: the most samples that any batch will have.
  GradientStep(std::size_t lanes, std::size_t largest_batch, ShardedModel& model, Transport& transport,
               MemoryAccounts& memory);

  /// All ranks together, with the same batch: leaves in the model the reduced gradient, a sum to be divided by
  /// batch.weight(), and returns the mean loss.
  double run(Batch& batch);

 private:
  double forward(Batch& batch);
  void backward();

  std::size_t lanes_;
  ShardedModel* model_;
  Transport* transport_;
  Mlp mlp_;
  std::vector<Lane> own_lanes_;
  std::vector<Segment> segments_;
  std::vector<double> losses_;
};

}  // namespace shoal::train

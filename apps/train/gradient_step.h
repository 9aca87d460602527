#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "train/mlp.h"
#include "train/objective.h"
#include "train/rounds.h"
#include "train/sharded_model.h"

namespace shoal::train {

struct StepSettings {
  std::size_t lanes = 16;
  std::size_t batch = 256;  ///< Samples of a microbatch over all ranks, at most.
  std::optional<plan::MicrobatchLimits> limits = std::nullopt;
};

struct StepResult {
  double loss = 0.0;         ///< The mean over the rows of the step; 0 of none.
  double weight = 0.0;       ///< What the gradient left in the model is to be divided by.
  std::uint64_t rounds = 0;  ///< In which the gradient was reduced.
  bool stop_wanted = false;  ///< By any rank.
};

/// One loss and gradient: each rank takes its lanes of the batches through the model and back, layer by layer.
class GradientStep {
 public:
  GradientStep(const StepSettings& settings, Objective& objective, ShardedModel& model, Transport& transport,
               MemoryAccounts& memory);

  /// All ranks together, with the same samples: cuts them into batches, and leaves in the model the sum of the batches'
  /// reduced gradients. Each rank may want to stop; all learn of it.
  StepResult run(std::span<const std::int64_t> samples, bool stop_wanted = false);

 private:
  void forward(std::span<const LanePart> parts);
  void backward(bool first);

  std::size_t batch_;
  Objective* objective_;
  ShardedModel* model_;
  Transport* transport_;
  Rounds rounds_;
  Mlp mlp_;
  std::vector<Segment> segments_;
  std::vector<double> losses_;  // Of this rank's lanes.
};

}  // namespace shoal::train

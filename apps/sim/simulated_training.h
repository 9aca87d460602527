#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/ledger.h"
#include "train/optimizer.h"

namespace shoal::sim {

/// A training job as far as its bytes and memory depend on it.
struct TrainingShape {
  std::vector<std::size_t> dims;
  int stage = 2;
  int ranks = 1;
  train::OptimizerKind optimizer = train::OptimizerKind::adam;
};

/// What one rank moves in one step, and what it holds.
struct TrainingRank {
  train::OperationLedger step;  ///< As simulated.
  std::uint64_t parameter_bytes = 0;
  std::uint64_t gradient_bytes = 0;
  std::uint64_t optimizer_bytes = 0;
  friend bool operator==(const TrainingRank&, const TrainingRank&) = default;
};

struct SimulatedTraining {
  TrainingShape shape;
  std::uint64_t parameters = 0;
  std::vector<TrainingRank> ranks;
  bool closed_form_matches = false;  ///< The planner's prediction, on every rank.
};

/// Makes the calls of one step, as the planner of shoal-train lists them, in a simulation without data.
SimulatedTraining simulate_training(const TrainingShape& shape);

std::string json_text(const SimulatedTraining& result);
/// A table; consecutive ranks with the same figures share rows.
std::string table_text(const SimulatedTraining& result);

}  // namespace shoal::sim

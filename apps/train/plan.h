#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/ledger.h"
#include "train/transport.h"

namespace shoal::train {

/// One collective call that all ranks make. The root of those that have one is rank 0.
struct PlannedCall {
  Operation operation = Operation::all_reduce;
  Algorithm algorithm = Algorithm::automatic;
  DataType type = DataType::f32;
  std::uint64_t count = 0;  ///< Elements of the whole vector.
  std::uint64_t times = 1;
};

/// All that decides which calls a run makes. Nothing of the training code is asked: this is a second opinion.
struct RunPlan {
  std::vector<std::size_t> dims;
  int stage = 2;
  int ranks = 1;
  GradientAlgorithms algorithms;
  std::uint64_t steps = 0;
  bool has_labels = true;
  std::size_t train_samples = 0;
  std::size_t test_samples = 0;
};

/// The calls of the training steps.
std::vector<PlannedCall> training_calls(const RunPlan& plan);

/// The calls outside them: data to all ranks, accuracy, and the parameters' hash.
std::vector<PlannedCall> other_calls(const RunPlan& plan);

/// What one rank's ledger will show for these calls, in a job with that calibration.
OperationLedger predict(std::span<const PlannedCall> calls, int rank, int ranks,
                        const Calibration& calibration = kReferenceCalibration);

/// Numbers that precede the data when rank 0 sends them around.
inline constexpr std::size_t kDataHeader = 4;

}  // namespace shoal::train

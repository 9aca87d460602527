#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/ledger.h"
#include "train/parameter_store.h"
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

/// All that decides which calls a run makes, and what it keeps. Nothing of the training code is asked: this is a second
/// opinion.
struct RunPlan {
  std::vector<std::size_t> dims;
  int stage = 2;
  int ranks = 1;
  GradientAlgorithms algorithms = {};
  Precision precision = Precision::f32;
  bool clips = false;
  std::size_t moments = 2;  ///< Of the optimizer.
  std::uint64_t steps = 0;
  std::uint64_t rounds = 0;   ///< Of all steps: a reduced gradient each.
  std::uint64_t updates = 0;  ///< Steps that had something to learn from.
  bool reads_start = false;   ///< From a file.
  bool opens_checkpoints = false;
  bool resumes = false;
  std::uint64_t saves = 0;
  bool exports = false;
  bool has_labels = true;
  bool evaluates = true;              ///< What has labels.
  std::size_t features = 0;           ///< Of a sample, ...
  DataType data_type = DataType::u8;  ///< ... as they are sent.
  std::size_t train_samples = 0;
  std::size_t test_samples = 0;
};

/// Checkpoints of a run from step `first` to `last`, one after every `every` steps (0: none of these) and after the last.
std::uint64_t saves_between(std::uint64_t first, std::uint64_t last, std::uint64_t every);

/// The calls of the training steps.
std::vector<PlannedCall> training_calls(const RunPlan& plan);

/// The calls outside them: data and the start to all ranks, accuracy, and the parameters' hash.
std::vector<PlannedCall> other_calls(const RunPlan& plan);

/// What one rank's ledger will show for these calls, in a job with that calibration.
OperationLedger predict(std::span<const PlannedCall> calls, int rank, int ranks,
                        const Calibration& calibration = kReferenceCalibration);

/// Bytes that a rank keeps from step to step: stage 1 shards the optimizer's state, stage 2 the gradients too, stage 3
/// the parameters too. With n parameters in all and k in the rank's own chunks:
///
///     f32    parameters 4 (n or k)    gradients 4 (n or k)    optimizer 4 moments (n or k)
///     bf16   parameters 2 (n or k)    gradients 4 (n or k)    optimizer 4 (moments + 1) (n or k): and the masters
struct StateBytes {
  std::uint64_t parameter = 0;
  std::uint64_t gradient = 0;
  std::uint64_t optimizer = 0;
};
StateBytes state_bytes(const RunPlan& plan, int rank);

/// Numbers that precede the data when rank 0 sends them around.
inline constexpr std::size_t kDataHeader = 6;

}  // namespace shoal::train

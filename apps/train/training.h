#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hash/sha256.h"
#include "train/checkpoints.h"
#include "train/gradient_step.h"
#include "train/progress.h"
#include "train/schedule.h"
#include "train/sharded_model.h"
#include "train/stop_request.h"
#include "train/stream.h"

namespace shoal::train {

struct TrainingSettings {
  Schedule schedule = {};
  std::optional<double> clip = std::nullopt;
  std::uint64_t steps = 0;          ///< From the start of training, also where it goes on from a checkpoint.
  std::uint64_t untimed_steps = 0;  ///< They warm caches and page in memory, and do not count for speed.
  std::uint64_t save_every = 0;     ///< Steps between checkpoints; 0: only after the last one.
};

/// Whether a checkpoint follows this step.
bool is_checkpoint_due(std::uint64_t step, const TrainingSettings& settings);

/// What training came to.
struct TrainingRecord {
  TrainingState state = {};      ///< Losses are those before each step's update.
  std::uint64_t first_step = 0;  ///< Steps that another run had made.
  int stop_signal = 0;           ///< That ended it before its last step, on any rank; 0 for none.
  double wall_s = 0.0;           ///< Of the steps, without saving.
  double timed_s = 0.0;          ///< Of the steps that count for speed, ...
  std::uint64_t timed_steps = 0;
  std::uint64_t timed_samples = 0;
  std::string stream_sha256 = {};
};

/// All ranks together: step after step, until there are enough or a signal came to some rank; then all stop after the
/// same step.
class Training {
 public:
  using Save = std::function<void(const TrainingState&)>;

  /// Goes on from `state`, with a stream at its beginning. `save` may be empty.
  Training(const TrainingSettings& settings, TrainingState state, SampleStream& stream, GradientStep& gradient_step,
           ShardedModel& model, Transport& transport, Progress& progress, Save save);

  /// Throws AgreedError, which names the step, where a loss is not finite.
  TrainingRecord run(const StopRequest& stop_request);

 private:
  bool step(std::span<const std::int64_t> samples, bool stop_wanted);
  GradientScale scale_of(double weight);
  void save_if_due();
  void tell(std::uint64_t samples_so_far);

  TrainingSettings settings_;
  SampleStream* stream_;
  GradientStep* gradient_step_;
  ShardedModel* model_;
  Transport* transport_;
  Progress* progress_;
  Save save_;
  TrainingRecord record_;
  Sha256 stream_hash_;
  std::uint64_t sent_before_ = 0;
  double saving_s_ = 0.0;
};

}  // namespace shoal::train

#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "checkpoint/checkpoint_folder.h"
#include "shoal/shoal.h"
#include "train/sharded_model.h"

namespace shoal::train {

/// Where training stands after a step.
struct TrainingState {
  std::uint64_t step = 0;
  std::uint64_t updates = 0;
  std::vector<double> losses = {};  ///< Of every step so far. Rank 0 writes them, all read them.
};

/// What must be the same in the run that goes on from a checkpoint as in the one that wrote it.
using RunIdentity = nlohmann::ordered_json;

/// The checkpoints of a run, written and read by all its ranks. The shard of a rank is one file, of each layer's own
/// chunk: `layers.0.masters`, `layers.0.moments.0`, ..., f32; rank 0's has `losses` too, f64. Everything is done by all
/// ranks together, and throws AgreedError.
///
/// Calls: opening is one agreement (agreement.h) and the broadcast of an i64; a save three agreements and the gather of
/// kFileRecord bytes from each rank; a load one agreement, and what publishing the model takes.
class Checkpoints {
 public:
  Checkpoints(Communicator& comm, const std::filesystem::path& directory, std::size_t keep, RunIdentity identity);

  /// Makes the directory ready and returns the step of its newest whole checkpoint: of what rank 0 finds there.
  std::optional<std::uint64_t> open();

  void save(const TrainingState& state, ShardedModel& model);

  /// Throws UsageError, on all ranks, if that checkpoint is of a run with another identity.
  TrainingState load(std::uint64_t step, ShardedModel& model);

  std::filesystem::path folder(std::uint64_t step) const { return folder_.folder(step); }
  /// Saves so far.

  static constexpr std::size_t kFileRecord = 8 + 64;  ///< Bytes of the file, and its SHA-256 in text.

 private:
  checkpoint::FileInfo write_shard(const TrainingState& state, ShardedModel& model) const;
  std::vector<checkpoint::FileInfo> gather_files(const checkpoint::FileInfo& own) const;
  void expect_same_run(std::uint64_t step, const RunIdentity& stored) const;
  void read_state(const checkpoint::Manifest& manifest, ShardedModel& model) const;

  Communicator* comm_;
  checkpoint::CheckpointFolder folder_;
  std::size_t keep_;
  RunIdentity identity_;
};

}  // namespace shoal::train

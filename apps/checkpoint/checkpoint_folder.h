#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/synced_file.h"

namespace shoal::checkpoint {

/// What a checkpoint's manifest.json says of it.
struct Manifest {
  std::uint64_t step = 0;
  std::uint64_t world = 0;
  std::vector<FileInfo> files = {};  ///< One of each rank, in rank order.
  nlohmann::ordered_json run = {};   ///< Of the program that wrote it.
};

/// A directory of checkpoints, one folder each:
///
///     DIR/step-000000000120/shard-00000-of-00004.safetensors ...
///                           manifest.json, which names the others with sizes and SHA-256
///
/// A folder of that name is whole: it was written as DIR/.writing-..., synced, and then renamed. Everything throws
/// FileError.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::filesystem::path directory) : directory_(std::move(directory)) {}
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;
  ~CheckpointFolder();

  /// Of one process that writes: makes the directory where it is missing, keeps others from writing to it while this
  /// object lives, and removes what a job that died left half-written or half-removed.
  void open_for_writing();

  /// The step of the newest checkpoint whose manifest can be read and whose files have the sizes it names; none of none.
  /// What is passed over on the way is told, a line each.
  std::optional<std::uint64_t> newest(const std::function<void(const std::string&)>& tell) const;

  std::filesystem::path folder(std::uint64_t step) const;
  Manifest manifest(std::uint64_t step) const;

  /// Throws FileError unless this file of the checkpoint is what its manifest says, by its SHA-256.
  void verify(std::uint64_t step, const FileInfo& file) const;

  /// The life of a checkpoint: begin() by one process, then the shards' files into writing_folder() by all ranks, then
  /// commit() by one process again; abandon() instead where something failed.
  void begin(std::uint64_t step) const;
  std::filesystem::path writing_folder(std::uint64_t step) const;
  static std::string shard_name(int rank, int world);
  void commit(const Manifest& manifest) const;
  void abandon(std::uint64_t step) const noexcept;

  /// Removes all whole checkpoints but the newest `keep`.
  void prune(std::size_t keep) const;

 private:
  // That have a folder, and of those the whole ones; newest first.
  std::vector<std::uint64_t> steps() const;
  std::vector<std::uint64_t> whole_steps(const std::function<void(const std::string&)>& tell) const;
  void expect_whole(std::uint64_t step) const;

  std::filesystem::path directory_;
  int lock_ = -1;
};

}  // namespace shoal::checkpoint

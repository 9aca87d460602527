// A file of one world is read by any other: a chunk's place in its layer follows from the layer's size, the number of
// ranks that wrote it and the writer's rank, by the same Partition that cut it.

#include "train/checkpoints.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iostream>
#include <string>

#include "checkpoint/file_error.h"
#include "checkpoint/safetensors.h"
#include "program/program.h"
#include "train/agreement.h"

namespace shoal::train {
namespace {

using checkpoint::CheckpointFolder;
using checkpoint::ElementType;
using checkpoint::FileInfo;
using checkpoint::Manifest;
using checkpoint::SafetensorsReader;
using checkpoint::SafetensorsWriter;
using checkpoint::TensorInfo;

constexpr const char* kLosses = "losses";

/// The tensors of a layer in a shard, by what they hold.
std::string tensor_name(std::size_t layer, std::size_t index) {
  const std::string name = "layers." + std::to_string(layer);
  return index == 0 ? name + ".masters" : name + ".moments." + std::to_string(index - 1);
}

/// Masters, then moments, as tensor_name() numbers them.
std::vector<std::span<float>> parts_of(const LayerState& state) {
  std::vector<std::span<float>> parts{state.masters};
  parts.insert(parts.end(), state.moments.begin(), state.moments.end());
  return parts;
}

}  // namespace

Checkpoints::Checkpoints(Communicator& comm, const std::filesystem::path& directory, std::size_t keep,
                         RunIdentity identity)
    : comm_(&comm), folder_(directory), keep_(keep), identity_(std::move(identity)) {}

std::optional<std::uint64_t> Checkpoints::open() {
  std::int64_t newest = -1;
  together(*comm_, [&] {
    if (comm_->rank() != 0) return;
    folder_.open_for_writing();
    const auto tell = [](const std::string& text) { std::cerr << "shoal-train: note: " + text + "\n" << std::flush; };
    if (const auto found = folder_.newest(tell)) newest = static_cast<std::int64_t>(*found);
  });
  broadcast(*comm_, std::span(&newest, 1));
  return newest < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(newest));
}

void Checkpoints::save(const TrainingState& state, ShardedModel& model) {
  const bool leads = comm_->rank() == 0;
  try {
    together(*comm_, [&] {
      if (leads) folder_.begin(state.step);
    });
    FileInfo own;
    together(*comm_, [&] { own = write_shard(state, model); });
    const auto files = gather_files(own);
    together(*comm_, [&] {
      if (!leads) return;
      RunIdentity run = identity_;
      run["updates"] = state.updates;
      folder_.commit({.step = state.step, .world = files.size(), .files = files, .run = std::move(run)});
      if (keep_ > 0) folder_.prune(keep_);
    });
  } catch (const AgreedError&) {
    if (leads) folder_.abandon(state.step);
    throw;
  }
}

FileInfo Checkpoints::write_shard(const TrainingState& state, ShardedModel& model) const {
  std::vector<TensorInfo> tensors;
  std::vector<std::span<const std::byte>> data;
  if (comm_->rank() == 0) {
    tensors.push_back({.name = kLosses, .type = ElementType::f64, .shape = {state.losses.size()}});
    data.push_back(std::as_bytes(std::span(state.losses)));
  }
  for (std::size_t layer = 0; layer < model.layout().layers().size(); ++layer) {
    const auto parts = parts_of(model.own_state(layer));
    for (std::size_t index = 0; index < parts.size(); ++index) {
      tensors.push_back({.name = tensor_name(layer, index), .type = ElementType::f32, .shape = {parts[index].size()}});
      data.push_back(std::as_bytes(parts[index]));
    }
  }
  const auto file = folder_.writing_folder(state.step) / CheckpointFolder::shard_name(comm_->rank(), comm_->size());
  SafetensorsWriter writer(file, tensors, {{"format", "shoal.checkpoint/1"}});
  for (const auto bytes : data) writer.write(bytes);
  return writer.finish();
}

std::vector<FileInfo> Checkpoints::gather_files(const FileInfo& own) const {
  std::array<std::uint8_t, kFileRecord> record{};
  std::memcpy(record.data(), &own.bytes, sizeof own.bytes);
  std::copy_n(own.sha256.begin(), kFileRecord - sizeof own.bytes, record.begin() + sizeof own.bytes);
  std::vector<std::uint8_t> records(comm_->rank() == 0 ? record.size() * static_cast<std::size_t>(comm_->size()) : 0);
  gather(*comm_, record, records);
  std::vector<FileInfo> files;
  for (std::size_t first = 0; first < records.size(); first += kFileRecord) {
    const auto of_rank = std::span(records).subspan(first, kFileRecord);
    FileInfo file;
    file.name = CheckpointFolder::shard_name(static_cast<int>(files.size()), comm_->size());
    std::memcpy(&file.bytes, of_rank.data(), sizeof file.bytes);
    file.sha256.assign(of_rank.begin() + sizeof file.bytes, of_rank.end());
    files.push_back(std::move(file));
  }
  return files;
}

TrainingState Checkpoints::load(std::uint64_t step, ShardedModel& model) {
  Manifest manifest;
  TrainingState state;
  std::exception_ptr mistake;
  together(*comm_, [&] {
    manifest = folder_.manifest(step);
    try {
      expect_same_run(step, manifest.run);
    } catch (const UsageError&) {
      mistake = std::current_exception();  // All ranks find it in the same text.
      return;
    }
    // The hashing of the files is shared out.
    for (std::size_t file = static_cast<std::size_t>(comm_->rank()); file < manifest.files.size();
         file += static_cast<std::size_t>(comm_->size()))
      folder_.verify(step, manifest.files[file]);
    read_state(manifest, model);
    const SafetensorsReader first(folder_.folder(step) / manifest.files.front().name);
    const TensorInfo& losses = first.tensor(kLosses, ElementType::f64);
    if (losses.elements() != step)
      throw checkpoint::FileError(folder_.folder(step).string(), "has not the losses of its steps");
    state.losses.resize(step);
    first.read(losses, 0, std::as_writable_bytes(std::span(state.losses)));
  });
  if (mistake) std::rethrow_exception(mistake);
  state.step = step;
  state.updates = manifest.run.at("updates").get<std::uint64_t>();
  model.publish(state.updates);
  return state;
}

void Checkpoints::expect_same_run(std::uint64_t step, const RunIdentity& stored) const {
  for (const auto& [key, value] : identity_.items()) {
    const auto found = stored.find(key);
    if (found == stored.end() || *found != value)
      throw UsageError("--resume: " + folder_.folder(step).string() + " is of a run whose " + key + " is " +
                       (found == stored.end() ? "not told" : found->dump()) + ", not " + value.dump());
  }
  if (!stored.contains("updates") || !stored.at("updates").is_number_unsigned())
    throw UsageError("--resume: " + folder_.folder(step).string() + " does not tell how many updates it had");
  const auto updates = stored.at("updates").get<std::uint64_t>();
  if (updates > step)
    throw UsageError("--resume: " + folder_.folder(step).string() + " tells of " + std::to_string(updates) +
                     " updates, more than it has steps");
}

void Checkpoints::read_state(const Manifest& manifest, ShardedModel& model) const {
  for (std::size_t writer = 0; writer < manifest.files.size(); ++writer) {
    const SafetensorsReader file(folder_.folder(manifest.step) / manifest.files[writer].name);
    for (std::size_t layer = 0; layer < model.layout().layers().size(); ++layer) {
      const Partition chunks(model.layout().layers()[layer].size(), static_cast<int>(manifest.world));
      const std::size_t stored_begin = chunks.begin(static_cast<int>(writer));
      const std::size_t stored_end = stored_begin + chunks.size(static_cast<int>(writer));
      const LayerState wanted = model.state(layer);
      const auto parts = parts_of(wanted);
      for (std::size_t index = 0; index < parts.size(); ++index) {
        const TensorInfo& tensor = file.tensor(tensor_name(layer, index), ElementType::f32);
        if (tensor.elements() != stored_end - stored_begin)
          throw checkpoint::FileError((folder_.folder(manifest.step) / manifest.files[writer].name).string(),
                                      "tensor '" + tensor.name + "' has not the size of that rank's chunk");
        const std::size_t begin = std::max(stored_begin, wanted.begin);
        const std::size_t end = std::min(stored_end, wanted.begin + wanted.masters.size());
        if (begin >= end) continue;
        const auto into = parts[index].subspan(begin - wanted.begin, end - begin);
        file.read(tensor, begin - stored_begin, std::as_writable_bytes(into));
      }
    }
  }
}

}  // namespace shoal::train

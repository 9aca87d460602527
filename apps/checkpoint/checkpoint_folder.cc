// What must hold at every moment, so that a crash at any of them loses no more than the checkpoint being written: a
// folder named step-N has all its files and their manifest on the disk, since its rename is the last thing done, after
// everything in it was synced; and an older one is removed, under another name first, after the newer one's rename was
// synced.

#include "checkpoint/checkpoint_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "checkpoint/file_error.h"

namespace shoal::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = "shoal.checkpoint/1";
constexpr const char* kManifest = "manifest.json";
constexpr std::string_view kStep = "step-";
constexpr std::string_view kWriting = ".writing-";
constexpr std::string_view kRemoving = ".removing-";
constexpr std::size_t kDigits = 12;

std::string numbered(std::uint64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

std::string step_name(std::uint64_t step) { return std::string(kStep) + numbered(step, kDigits); }

std::optional<std::uint64_t> step_of(const std::string& name) {
  if (!name.starts_with(kStep)) return std::nullopt;
  std::uint64_t step = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kStep.size(), end, step);
  if (error != std::errc{} || stop != end || name != step_name(step)) return std::nullopt;
  return step;
}

[[noreturn]] void fail(const fs::path& path, const std::string& doing, int error) {
  throw FileError(path.string(), "cannot be " + doing + ": " + std::strerror(error));
}

void remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail(path, "removed", error.value());
}

void rename_to(const fs::path& from, const fs::path& to, unsigned flags) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) != 0) fail(to, "made", errno);
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream || !text) throw FileError(file.string(), std::string("cannot be read: ") + std::strerror(errno));
  return text.str();
}

}  // namespace

CheckpointFolder::~CheckpointFolder() {
  if (lock_ >= 0) ::close(lock_);
}

void CheckpointFolder::open_for_writing() {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) fail(directory_, "made", error.value());
  lock_ = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) fail(directory_, "opened", errno);
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) throw FileError(directory_.string(), "another job writes its checkpoints there");
    fail(directory_, "locked", errno);
  }
  if (::access(directory_.c_str(), W_OK | X_OK) != 0) fail(directory_, "written to", errno);
  std::vector<fs::path> left_over;
  for (const auto& entry : fs::directory_iterator(directory_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kWriting) || name.starts_with(kRemoving)) left_over.push_back(entry.path());
  }
  for (const fs::path& path : left_over) remove_tree(path);
}

std::vector<std::uint64_t> CheckpointFolder::steps() const {
  std::vector<std::uint64_t> steps;
  std::error_code error;
  for (fs::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error))
    if (const auto step = step_of(entry->path().filename().string())) steps.push_back(*step);
  if (error && error != std::errc::no_such_file_or_directory) fail(directory_, "read", error.value());
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

void CheckpointFolder::expect_whole(std::uint64_t step) const {
  for (const FileInfo& file : manifest(step).files) {
    const fs::path path = folder(step) / file.name;
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(path, error);
    if (error) throw FileError(path.string(), error.message());
    if (bytes != file.bytes)
      throw FileError(path.string(),
                      "has " + std::to_string(bytes) + " bytes, not the manifest's " + std::to_string(file.bytes));
  }
}

std::vector<std::uint64_t> CheckpointFolder::whole_steps(const std::function<void(const std::string&)>& tell) const {
  std::vector<std::uint64_t> whole;
  for (const std::uint64_t step : steps()) {
    try {
      expect_whole(step);
      whole.push_back(step);
    } catch (const FileError& error) {
      tell("passed over an incomplete checkpoint: " + std::string(error.what()));
    }
  }
  return whole;
}

std::optional<std::uint64_t> CheckpointFolder::newest(const std::function<void(const std::string&)>& tell) const {
  const auto whole = whole_steps(tell);
  return whole.empty() ? std::nullopt : std::optional(whole.front());
}

fs::path CheckpointFolder::folder(std::uint64_t step) const { return directory_ / step_name(step); }

Manifest CheckpointFolder::manifest(std::uint64_t step) const {
  const fs::path file = folder(step) / kManifest;
  const std::string text = content_of(file);
  try {
    const auto json = nlohmann::ordered_json::parse(text);
    if (json.at("schema") != kSchema) throw std::invalid_argument("its schema is not " + std::string(kSchema));
    Manifest manifest{.step = json.at("step").get<std::uint64_t>(),
                      .world = json.at("world").get<std::uint64_t>(),
                      .files = {},
                      .run = json.at("run")};
    for (const auto& entry : json.at("files"))
      manifest.files.push_back({.name = entry.at("name").get<std::string>(),
                                .bytes = entry.at("bytes").get<std::uint64_t>(),
                                .sha256 = entry.at("sha256").get<std::string>()});
    if (manifest.step != step) throw std::invalid_argument("it is of step " + std::to_string(manifest.step));
    if (manifest.world == 0 || manifest.files.size() != manifest.world)
      throw std::invalid_argument("it has not one file of each rank");
    for (std::size_t rank = 0; rank < manifest.files.size(); ++rank) {
      const std::string expected = shard_name(static_cast<int>(rank), static_cast<int>(manifest.world));
      if (manifest.files[rank].name != expected)
        throw std::invalid_argument("it names '" + manifest.files[rank].name + "' where " + expected + " belongs");
    }
    return manifest;
  } catch (const std::exception& error) {
    throw FileError(file.string(), std::string("is no manifest: ") + error.what());
  }
}

void CheckpointFolder::verify(std::uint64_t step, const FileInfo& file) const {
  const fs::path path = folder(step) / file.name;
  std::ifstream stream(path, std::ios::binary);
  Sha256 hash;
  std::vector<char> buffer(std::size_t{1} << 20U);
  while (stream) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hash.add(std::as_bytes(std::span(buffer).first(static_cast<std::size_t>(stream.gcount()))));
  }
  if (!stream.eof()) throw FileError(path.string(), std::string("cannot be read: ") + std::strerror(errno));
  if (hash.finish() != file.sha256)
    throw FileError(path.string(), "is not what was written: its SHA-256 differs from the manifest's");
}

fs::path CheckpointFolder::writing_folder(std::uint64_t step) const {
  return directory_ / (std::string(kWriting) + step_name(step));
}

std::string CheckpointFolder::shard_name(int rank, int world) {
  constexpr std::size_t kRankDigits = 5;
  return "shard-" + numbered(static_cast<std::uint64_t>(rank), kRankDigits) + "-of-" +
         numbered(static_cast<std::uint64_t>(world), kRankDigits) + ".safetensors";
}

void CheckpointFolder::begin(std::uint64_t step) const {
  remove_tree(writing_folder(step));
  std::error_code error;
  fs::create_directory(writing_folder(step), error);
  if (error) fail(writing_folder(step), "made", error.value());
}

void CheckpointFolder::commit(const Manifest& manifest) const {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const FileInfo& file : manifest.files)
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  const nlohmann::ordered_json json{{"schema", kSchema},
                                    {"step", manifest.step},
                                    {"world", manifest.world},
                                    {"files", std::move(files)},
                                    {"run", manifest.run}};
  const fs::path writing = writing_folder(manifest.step);
  SyncedFile file(writing / kManifest);
  file.write(json.dump(2) + "\n");
  file.finish();
  sync_directory(writing);
  const fs::path whole = folder(manifest.step);
  // One that stands there was found incomplete, or there would be no new one of its step.
  const bool stands = fs::exists(whole);
  rename_to(writing, whole, stands ? RENAME_EXCHANGE : RENAME_NOREPLACE);
  sync_directory(directory_);
  if (stands) remove_tree(writing);
}

void CheckpointFolder::abandon(std::uint64_t step) const noexcept {
  std::error_code ignored;  // It is removed at the next start as well.
  fs::remove_all(writing_folder(step), ignored);
}

void CheckpointFolder::prune(std::size_t keep) const {
  const auto whole = whole_steps([](const std::string&) {});
  for (std::size_t i = keep; i < whole.size(); ++i) {
    const fs::path removing = directory_ / (std::string(kRemoving) + step_name(whole[i]));
    remove_tree(removing);
    rename_to(folder(whole[i]), removing, 0);
    remove_tree(removing);
  }
}

}  // namespace shoal::checkpoint

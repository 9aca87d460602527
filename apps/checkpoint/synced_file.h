#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "hash/sha256.h"

namespace shoal::checkpoint {

/// What a finished file must be found to be.
struct FileInfo {
  std::string name;
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// A file that is written once, from beginning to end, and is on the disk when finish() returns. One that is given up
/// before stays as far as it was written. Everything throws FileError.
class SyncedFile {
 public:
  /// Made anew; what was there is replaced.
  explicit SyncedFile(const std::filesystem::path& file);
  SyncedFile(const SyncedFile&) = delete;
  SyncedFile& operator=(const SyncedFile&) = delete;
  ~SyncedFile();

  void write(std::span<const std::byte> bytes);
  void write(const std::string& text) { write(std::as_bytes(std::span(text))); }

  FileInfo finish();

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path file_;
  int descriptor_;
  std::uint64_t bytes_ = 0;
  Sha256 hash_;
};

/// Makes what was created, renamed or removed in a directory last.
void sync_directory(const std::filesystem::path& directory);

}  // namespace shoal::checkpoint

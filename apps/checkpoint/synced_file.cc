#include "checkpoint/synced_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "checkpoint/file_error.h"

namespace shoal::checkpoint {

SyncedFile::SyncedFile(const std::filesystem::path& file)
    : file_(file), descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail();
}

SyncedFile::~SyncedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void SyncedFile::fail() const {
  throw FileError(file_.string(), std::string("cannot be written: ") + std::strerror(errno));
}

void SyncedFile::write(std::span<const std::byte> bytes) {
  hash_.add(bytes);
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

FileInfo SyncedFile::finish() {
  if (::fsync(descriptor_) != 0) fail();
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) fail();
  return {.name = file_.filename().string(), .bytes = bytes_, .sha256 = hash_.finish()};
}

void sync_directory(const std::filesystem::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) throw FileError(directory.string(), std::string("cannot be synced: ") + std::strerror(error));
}

}  // namespace shoal::checkpoint

#include "train/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "train/input_error.h"

namespace shoal::train {
namespace {

namespace fs = std::filesystem;

/// What cannot be looked at is not there, as far as that matters here.
fs::file_status status_of(const fs::path& file) {
  std::error_code ignored;
  return fs::status(file, ignored);
}

[[noreturn]] void fail(const fs::path& file, int error) {
  throw InputError(file.string(), std::string("cannot be written: ") + std::strerror(error));
}

fs::path target_of(fs::path file) {
  constexpr int kMostLinks = 40;  // As the kernel follows.
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(file, error)); ++links) {
    if (links == kMostLinks) fail(file, ELOOP);
    const fs::path target = fs::read_symlink(file, error);
    if (error) fail(file, error.value());
    file = file.parent_path() / target;  // Of an absolute target, that alone.
  }
  return file;
}

}  // namespace

void expect_writable(const fs::path& file) {
  const auto status = status_of(file);
  if (fs::is_directory(status)) fail(file, EISDIR);
  const auto written_to = fs::exists(status) ? file : file.parent_path() / ".";
  if (::access(written_to.c_str(), W_OK) != 0) fail(file, errno);
}

fs::path replaceable(const fs::path& file) {
  const fs::path target = target_of(file);
  expect_writable(target);
  const auto status = status_of(target);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw InputError(file.string(), "cannot be written: it is no regular file");
  if (::access((target.parent_path() / ".").c_str(), W_OK | X_OK) != 0) fail(target, errno);
  return target;
}

}  // namespace shoal::train

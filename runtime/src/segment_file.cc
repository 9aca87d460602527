#include "segment_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "shoal/runtime/error.h"
#include "shoal/runtime/units.h"

namespace shoal::detail {
namespace {

[[noreturn]] void fail(const std::string& what, int error) {
  throw Error(ErrorCode::system, fmt::format("{}: {}", what, std::generic_category().message(error)));
}

/// A descriptor that is closed unless it is handed on.
class Guarded {
 public:
  explicit Guarded(int number) : number_(number) {}
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() {
    if (number_ >= 0) close(number_);
  }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

SegmentFile make_memfd(int memfd, std::uint64_t bytes) {
  Guarded file(memfd);
  if (ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    fail(fmt::format("shared memory of {} bytes cannot be had", bytes), errno);
  return {.descriptor = file.release(), .reserved = false};
}

// Of a name that nobody can have foreseen, and refused if there is one: never one that this call did not make.
int open_unnamed() {
  for (;;) {
    std::array<std::uint64_t, 2> random{};
    if (getrandom(random.data(), sizeof random, 0) != sizeof random) fail("no random number for a name", errno);
    const std::string name = fmt::format("/shoal.{:016x}{:016x}", random[0], random[1]);
    const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
      shm_unlink(name.c_str());
      return file;
    }
    if (errno != EEXIST) fail("shared memory cannot be had (shm_open)", errno);
  }
}

[[noreturn]] void fail_for_space(std::uint64_t bytes, std::uint64_t available) {
  throw Error(
      ErrorCode::system,
      fmt::format("shared memory of {} bytes cannot be had in /dev/shm: needs {}, has {}; a smaller --heap needs "
                  "less, a container gets more by --shm-size",
                  bytes, format_bytes(bytes), format_bytes(available)));
}

/// What the machine can give without taking it from running programs.
std::uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t kibibytes = 0;
  for (std::string name; file >> name; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (name == "MemAvailable:" && file >> kibibytes) return kibibytes << 10;
  return std::numeric_limits<std::uint64_t>::max();
}

/// Room for `file`, as far as can be known: /dev/shm may be allowed more than there is.
std::uint64_t available_to(int file) {
  struct statvfs space {};
  const std::uint64_t memory = available_memory();
  if (fstatvfs(file, &space) != 0 || space.f_blocks == 0) return memory;
  return std::min<std::uint64_t>(memory, std::uint64_t{space.f_bavail} * space.f_frsize);
}

SegmentFile make_posix(std::uint64_t bytes, std::uint64_t reserved) {
  Guarded file(open_unnamed());
  if (ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
    fail(fmt::format("shared memory of {} bytes cannot be had in /dev/shm", bytes), errno);
  const std::uint64_t available = available_to(file.get());
  if (available < reserved) fail_for_space(reserved, available);
  const int error = posix_fallocate(file.get(), 0, static_cast<off_t>(reserved));
  if (error == ENOSPC) fail_for_space(reserved, available);
  if (error != 0) fail(fmt::format("shared memory of {} bytes cannot be reserved in /dev/shm", reserved), error);
  return {.descriptor = file.release(), .reserved = true};
}

}  // namespace

SegmentFile make_segment_file(std::uint64_t bytes, std::uint64_t reserved) {
  const char* text = std::getenv("SHOAL_SEGMENT");
  const std::string_view asked = text != nullptr ? text : "";
  if (asked == "posix") return make_posix(bytes, reserved);
  if (!asked.empty() && asked != "memfd" && asked != "auto")
    throw Error(ErrorCode::invalid_argument, fmt::format("SHOAL_SEGMENT={}: it is auto, memfd or posix", asked));
  const int memfd = memfd_create("shoal", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memfd >= 0) return make_memfd(memfd, bytes);
  const bool unknown_here = errno == ENOSYS || errno == EPERM || errno == EACCES;
  if (asked == "memfd" || !unknown_here) fail("shared memory cannot be had (memfd_create)", errno);
  return make_posix(bytes, reserved);
}

}  // namespace shoal::detail

#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace shoal::detail {

/// Of the numbers that processes have here; 0 where it cannot be told. Numbers from another one mean nothing here.
inline std::uint64_t process_namespace() {
  struct stat status {};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace shoal::detail

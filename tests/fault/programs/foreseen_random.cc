// To be preloaded: the first random number that a process asks for is known beforehand.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

extern "C" ssize_t getrandom(void* buffer, std::size_t size, unsigned int flags) {
  static bool foreseen = true;
  if (!foreseen) return ::syscall(SYS_getrandom, buffer, size, flags);
  foreseen = false;
  std::memset(buffer, 0x11, size);
  return static_cast<ssize_t>(size);
}

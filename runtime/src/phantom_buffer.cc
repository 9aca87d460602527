#include "shoal/runtime/phantom_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "shoal/runtime/error.h"

namespace shoal {

PhantomBuffer::PhantomBuffer(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* const start = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED)
    throw Error(ErrorCode::system,
                fmt::format("phantom buffer: no {} bytes of addresses: {}", bytes, std::strerror(errno)));
  start_ = static_cast<std::byte*>(start);
}

PhantomBuffer::~PhantomBuffer() {
  if (start_ != nullptr) munmap(start_, bytes_);
}

}  // namespace shoal

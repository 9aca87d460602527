#include "descriptor.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "shoal/runtime/error.h"

namespace shoal::detail {

Pipe make_pipe(const char* purpose) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ErrorCode::system, std::string("cannot make a pipe for ") + purpose + ": " + std::strerror(errno));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace shoal::detail

#include "descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "shoal/runtime/error.h"

namespace shoal::detail {

Pipe make_pipe(const char* purpose) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    std::string text = std::string("cannot make a pipe for ") + purpose + ": " + std::strerror(error);
    rlimit limit{};
    if (error == EMFILE && ::getrlimit(RLIMIT_NOFILE, &limit) == 0)
      text += " (the limit is " + std::to_string(limit.rlim_cur) + ", see ulimit -n)";
    throw Error(ErrorCode::system, text);
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace shoal::detail

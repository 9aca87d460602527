#include "log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "shoal/runtime/error.h"

namespace shoal::detail {

LogFile::LogFile(std::string path, bool append)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (append ? 0 : O_TRUNC), 0666)) {
  if (!file_.open()) throw Error(ErrorCode::system, "cannot open " + path_ + ": " + std::strerror(errno));
}

int LogFile::write(std::string_view bytes) {
  while (file_.open() && !bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      const int error = errno;
      file_.close();
      return error;
    }
  }
  return 0;
}

}  // namespace shoal::detail

#include "output_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace shoal::detail {

OutputSink::OutputSink(boost::asio::io_context& loop, int descriptor, std::function<void(int error)> broken)
    : broken_(std::move(broken)) {
  open(descriptor);
  if (kind_ == Kind::blocking) return;
  room_.emplace(loop, target_, Readiness::Of::writing);
  if (!room_->possible()) kind_ = Kind::blocking;  // What cannot be waited for is written as any program would.
}

void OutputSink::open(int descriptor) {
  target_ = descriptor;
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return;
  if (S_ISSOCK(status.st_mode)) {
    kind_ = Kind::socket;
  } else if (S_ISFIFO(status.st_mode) || ::isatty(descriptor) == 1) {
    // O_NOCTTY: the guard leads a session without a terminal and would be given this one.
    own_ = Descriptor(
        ::open(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    // Another user's pipe cannot be opened.
    kind_ = own_.open() ? Kind::own : (S_ISFIFO(status.st_mode) ? Kind::shared : Kind::blocking);
    if (own_.open()) target_ = own_.get();
  }
}

void OutputSink::put(std::string text) {
  if (text.empty()) return;
  at_line_start_ = text.back() == '\n';
  if (is_broken_) return;
  const bool was_idle = idle();
  waiting_bytes_ += text.size();
  waiting_.push_back(std::move(text));
  if (was_idle) flush();
}

ssize_t OutputSink::write_some(const char* bytes, std::size_t size) {
  switch (kind_) {
    case Kind::blocking:
    case Kind::own:
      return ::write(target_, bytes, size);
    case Kind::socket:
      return ::send(target_, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    case Kind::shared: {
      pollfd room{.fd = target_, .events = POLLOUT, .revents = 0};
      if (::poll(&room, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
      }
      return ::write(target_, bytes, std::min<std::size_t>(size, PIPE_BUF));
    }
  }
  return -1;
}

void OutputSink::flush() {
  while (!waiting_.empty()) {
    const std::string& first = waiting_.front();
    const ssize_t written = write_some(first.data() + written_of_first_, first.size() - written_of_first_);
    if (written < 0) {
      const int error = errno;
      if (error == EINTR) continue;
      if (error == EAGAIN) {
        wait_until_writable();
        return;
      }
      is_broken_ = true;
      waiting_.clear();
      waiting_bytes_ = 0;
      broken_(error);
      return;
    }
    written_of_first_ += static_cast<std::size_t>(written);
    waiting_bytes_ -= static_cast<std::size_t>(written);
    if (written_of_first_ == first.size()) {
      waiting_.pop_front();
      written_of_first_ = 0;
    }
  }
}

void OutputSink::wait_until_writable() {
  room_->wait([this] {
    flush();
    if (progressed_) progressed_();
  });
}

bool same_stream(int one, int other) {
  struct stat first {};
  struct stat second {};
  if (::fstat(one, &first) != 0 || ::fstat(other, &second) != 0) return false;
  return !S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace shoal::detail

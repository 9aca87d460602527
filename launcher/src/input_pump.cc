#include "input_pump.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

namespace shoal::detail {
namespace {

// While may_read() says no and something is there for others to read.
constexpr std::chrono::milliseconds kPatience{200};

}  // namespace

InputPump::InputPump(boost::asio::io_context& loop, int source, std::vector<Descriptor> targets,
                     std::function<bool()> may_read)
    : source_(source), may_read_(std::move(may_read)), patience_(loop) {
  struct stat status {};
  if (::fstat(source, &status) == 0) {
    is_socket_ = S_ISSOCK(status.st_mode);
    // A reader that comes between our look and our reading must not leave us waiting. Another user's cannot be opened.
    if (S_ISFIFO(status.st_mode) || ::isatty(source) == 1)
      own_ = Descriptor(
          ::open(("/proc/self/fd/" + std::to_string(source)).c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (own_.open()) source_ = own_.get();
  }
  readable_.emplace(loop, source_, Readiness::Of::reading);
  for (Descriptor& target : targets) targets_.emplace_back(loop, target.release());
}

void InputPump::start() { listen(); }

void InputPump::look_again() { patience_.cancel(); }

void InputPump::listen() {
  readable_->wait([this] {
    if (!may_read_ || may_read_()) {
      read_some();
      return;
    }
    patience_.expires_after(kPatience);
    patience_.async_wait([this](const boost::system::error_code& /*cancelled*/) { listen(); });
  });
}

ssize_t InputPump::read_piece() {
  if (is_socket_) return ::recv(source_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  if (!own_.open() && readable_->possible()) {
    pollfd waiting{.fd = source_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, 0) == 0) {
      errno = EAGAIN;
      return -1;
    }
  }
  return ::read(source_, buffer_.data(), buffer_.size());
}

void InputPump::read_some() {
  const ssize_t size = read_piece();
  if (size > 0) {
    write_all(static_cast<std::size_t>(size));
  } else if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
    listen();
  } else if (size < 0 && errno == EIO && may_read_ && !may_read_()) {
    listen();  // A terminal that others were given since we asked.
  } else {
    end();
  }
}

void InputPump::write_all(std::size_t bytes) {
  writing_ = targets_.size();
  for (auto& target : targets_) {
    boost::asio::async_write(target, boost::asio::buffer(buffer_.data(), bytes),
                             [this, &target](const boost::system::error_code& error, std::size_t /*written*/) {
                               if (error) target.close();
                               if (--writing_ > 0) return;
                               std::erase_if(targets_, [](const auto& one) { return !one.is_open(); });
                               if (targets_.empty()) {
                                 end();
                               } else {
                                 listen();
                               }
                             });
  }
}

void InputPump::end() { targets_.clear(); }

}  // namespace shoal::detail

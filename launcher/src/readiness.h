#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

namespace shoal::detail {

/// Waits until somebody else's descriptor can be read, or written. Asio itself would make the open file non-blocking,
/// and that file is shared with other programs: O_NONBLOCK is a property of the file, not of the descriptor. So Asio
/// gets an epoll of one to wait on.
class Readiness {
 public:
  enum class Of { reading, writing };

  /// `descriptor` stays the caller's and must stay open.
  Readiness(boost::asio::io_context& loop, int descriptor, Of what);

  /// False for files and the like, which nobody can wait for, or need.
  bool possible() const { return epoll_.is_open(); }
  /// Calls `action` once, from the loop; where waiting is not possible, without any.
  void wait(std::function<void()> action);

 private:
  boost::asio::io_context* loop_;
  int descriptor_;
  Of what_;
  boost::asio::posix::stream_descriptor epoll_;
};

}  // namespace shoal::detail

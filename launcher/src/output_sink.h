#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "descriptor.h"
#include "readiness.h"

namespace shoal::detail {

/// One of the launcher's own output streams, written without ever blocking the loop and without changing the flags
/// of an open file that other programs share with us (O_NONBLOCK is a property of the file, not of the descriptor).
class OutputSink {
 public:
  /// Above this much waiting, the ranks are not read from any more: a slow reader slows them down.
  static constexpr std::size_t kHighWater = std::size_t{256} << 10;

  /// `descriptor` stays the caller's and must stay open. `broken` is called, once, with the errno of a failed write;
  /// all that comes after it is dropped.
  OutputSink(boost::asio::io_context& loop, int descriptor, std::function<void(int error)> broken);

  void put(std::string text);
  bool full() const noexcept { return waiting_bytes_ >= kHighWater; }
  bool idle() const noexcept { return waiting_.empty(); }
  /// Whether what was put last ended with a newline.
  bool at_line_start() const noexcept { return at_line_start_; }
  /// `action` is called whenever the sink, having been unable to write, has written something.
  void on_progress(std::function<void()> action) { progressed_ = std::move(action); }

 private:
  enum class Kind {
    blocking,  // Files and the like: no waiting to speak of.
    own,       // A pipe or terminal opened again for ourselves, non-blocking.
    socket,    // Non-blocking call by call.
    shared     // A pipe of somebody else's: written in pieces that poll says it has room for.
  };

  void open(int descriptor);
  void flush();
  ssize_t write_some(const char* bytes, std::size_t size);
  void wait_until_writable();

  Descriptor own_;
  int target_ = -1;
  Kind kind_ = Kind::blocking;
  std::optional<Readiness> room_;
  std::deque<std::string> waiting_;
  std::size_t written_of_first_ = 0;
  std::size_t waiting_bytes_ = 0;
  bool at_line_start_ = true;
  bool is_broken_ = false;
  std::function<void(int)> broken_;
  std::function<void()> progressed_;
};

/// Whether both are one pipe, terminal or socket, as after `2>&1`: then they must be written through one sink.
bool same_stream(int one, int other);

}  // namespace shoal::detail

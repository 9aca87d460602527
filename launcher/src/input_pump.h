#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "descriptor.h"
#include "readiness.h"

namespace shoal::detail {

/// Carries what comes from one descriptor into pipes, the same into each, at the pace of the slowest; a pipe that
/// nobody reads any more is left out, and when none is left, nothing more is read.
class InputPump {
 public:
  /// `source` stays the caller's, must stay open, and keeps its flags. `targets`: writing ends of pipes of our own.
  /// `may_read`, if given, is asked before each reading; as long as it says no, the source's bytes are others'.
  InputPump(boost::asio::io_context& loop, int source, std::vector<Descriptor> targets,
            std::function<bool()> may_read = {});

  /// Begins. The pipes are closed at the source's end.
  void start();
  /// may_read() may say something else now.
  void look_again();

 private:
  void listen();
  void read_some();
  ssize_t read_piece();
  void write_all(std::size_t bytes);
  void end();

  Descriptor own_;  // The source opened again for ourselves, non-blocking.
  int source_;
  bool is_socket_ = false;
  std::optional<Readiness> readable_;
  std::function<bool()> may_read_;
  boost::asio::steady_timer patience_;
  std::vector<boost::asio::posix::stream_descriptor> targets_;
  std::array<char, std::size_t{64} << 10> buffer_{};
  std::size_t writing_ = 0;  // Targets that have not yet taken what is in the buffer.
};

}  // namespace shoal::detail

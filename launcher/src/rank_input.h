#pragma once

#include <boost/asio/io_context.hpp>
#include <optional>
#include <vector>

#include "descriptor.h"
#include "input_pump.h"
#include "input_route.h"

namespace shoal::detail {

/// Standard input of the ranks, in the guard. One rank gets the guard's own, so that nothing more is taken from it than
/// that rank reads; for all ranks it is pumped into a pipe each. Whoever has none reads /dev/null.
class RankInput {
 public:
  /// Before any fork. Throws Error `system`.
  RankInput(InputRoute route, int ranks);

  /// In the child that becomes rank `rank`.
  void attach(int rank);
  /// The ranks have been forked.
  void start(boost::asio::io_context& loop);
  /// The loop is about to go.
  void stop() { pump_.reset(); }

 private:
  InputRoute route_;
  std::vector<Pipe> pipes_;  // One a rank if all read, else none.
  std::optional<InputPump> pump_;
};

/// Makes /dev/null this process's standard input.
void read_nothing();

}  // namespace shoal::detail

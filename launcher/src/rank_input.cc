#include "rank_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace shoal::detail {

RankInput::RankInput(InputRoute route, int ranks) : route_(route) {
  if (route.to != InputRoute::To::all) return;
  for (int rank = 0; rank < ranks; ++rank)
    pipes_.push_back(make_pipe(("the input of rank " + std::to_string(rank)).c_str()));
}

void RankInput::attach(int rank) {
  if (!pipes_.empty()) {
    ::dup2(pipes_[static_cast<std::size_t>(rank)].read.get(), STDIN_FILENO);
  } else if (!route_.reaches(rank)) {
    read_nothing();
  }
}

void RankInput::start(boost::asio::io_context& loop) {
  if (pipes_.empty()) {
    read_nothing();
    return;
  }
  std::vector<Descriptor> targets;
  for (Pipe& pipe : pipes_) targets.push_back(std::move(pipe.write));
  pipes_.clear();
  pump_.emplace(loop, STDIN_FILENO, std::move(targets));
  pump_->start();
}

void read_nothing() {
  const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (null.open()) ::dup2(null.get(), STDIN_FILENO);
}

}  // namespace shoal::detail

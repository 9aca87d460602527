// Backpressure: a source whose sink is full is not read; its pipe fills and its rank waits in write(). When a rank has
// ended, what its pipes hold (at most their capacity) is taken at once, so that it precedes what is said of its end.
#include "output_router.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "exit_status.h"

namespace shoal::detail {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::size_t kMostAtOnce = std::size_t{4} << 20;

}  // namespace

OutputRouter::OutputRouter(int ranks, bool tagged) : tagged_(tagged), buffer_(kReadBytes) {
  for (int rank = 0; rank < ranks; ++rank) {
    for (int stream = 0; stream < 2; ++stream) {
      auto source = std::make_unique<Source>();
      source->tag = std::string("[").append(std::to_string(rank)).append("] ");
      source->pipe = make_pipe(("the output of rank " + std::to_string(rank)).c_str());
      sources_.push_back(std::move(source));
    }
  }
}

void OutputRouter::attach(int rank) {
  const auto first = 2 * static_cast<std::size_t>(rank);
  ::dup2(sources_[first]->pipe.write.get(), STDOUT_FILENO);
  ::dup2(sources_[first + 1]->pipe.write.get(), STDERR_FILENO);
}

void OutputRouter::start(boost::asio::io_context& loop, std::function<void(const FirstFailure&)> broken) {
  broken_ = std::move(broken);
  const bool one = same_stream(STDOUT_FILENO, STDERR_FILENO);
  sinks_.push_back(std::make_unique<OutputSink>(loop, STDOUT_FILENO, [this](int error) { sink_broken(true, error); }));
  if (!one)
    sinks_.push_back(
        std::make_unique<OutputSink>(loop, STDERR_FILENO, [this](int error) { sink_broken(false, error); }));
  for (auto& sink : sinks_) sink->on_progress([this] { progressed(); });
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    Source& source = *sources_[i];
    source.sink = i % 2 == 0 ? sinks_.front().get() : sinks_.back().get();
    source.pipe.write.close();
    const int reading = source.pipe.read.release();
    ::fcntl(reading, F_SETFL, O_NONBLOCK);
    source.reader.emplace(loop, reading);
    listen(source);
  }
}

void OutputRouter::listen(Source& source) {
  source.paused = source.sink->full();
  if (source.paused || source.ended) return;
  source.reader->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                            [this, &source](const boost::system::error_code& error) {
                              if (error || source.ended) return;
                              read_some(source);
                              listen(source);
                            });
}

// Whether there was something.
bool OutputRouter::read_some(Source& source) {
  const ssize_t size = ::read(source.reader->native_handle(), buffer_.data(), buffer_.size());
  if (size > 0) {
    source.lines.append({buffer_.data(), static_cast<std::size_t>(size)});
    pass_on(source, source.lines.take_lines());
    return true;
  }
  if (size < 0 && errno == EINTR) return true;
  if (size == 0 || errno != EAGAIN) {
    source.ended = true;
    pass_on(source, source.lines.take_rest());
    source.reader->close();
  }
  return false;
}

// All that is there; bounded, since a descendant of the rank may go on writing.
void OutputRouter::read_all(Source& source) {
  for (std::size_t taken = 0; taken < kMostAtOnce && !source.ended && read_some(source); taken += kReadBytes) {
  }
}

void OutputRouter::pass_on(Source& source, const std::string& text) {
  if (text.empty()) return;
  if (!tagged_) {
    source.sink->put(text);
    return;
  }
  const bool continued = !source.sink->at_line_start() && open_line_ == &source;
  if (!source.sink->at_line_start() && !continued) source.sink->put("\n");
  source.sink->put(tag_lines(text, source.tag, continued));
  open_line_ = &source;
}

void OutputRouter::announce(const std::string& line) {
  OutputSink& errors = *sinks_.back();
  if (!errors.at_line_start()) errors.put("\n");
  errors.put("shoalrun: " + line + "\n");
}

void OutputRouter::rank_ended(int rank) {
  const auto first = 2 * static_cast<std::size_t>(rank);
  read_all(*sources_[first]);
  read_all(*sources_[first + 1]);
}

void OutputRouter::progressed() {
  for (const auto& source : sources_)
    if (source->paused && !source->ended) listen(*source);
  finish_if_idle();
}

void OutputRouter::finish(std::function<void()> done) {
  for (const auto& source : sources_) {
    read_all(*source);
    if (source->ended) continue;
    // Held open by a process that is none of ours; nothing more is waited for.
    source->ended = true;
    pass_on(*source, source->lines.take_rest());
    source->reader->close();
  }
  done_ = std::move(done);
  finish_if_idle();
}

void OutputRouter::stop() {
  sources_.clear();
  sinks_.clear();
}

void OutputRouter::finish_if_idle() {
  if (done_ && std::ranges::all_of(sinks_, [](const auto& sink) { return sink->idle(); })) done_();
}

void OutputRouter::sink_broken(bool standard_output, int error) {
  if (standard_output) {
    // As for any program in a pipeline whose reader has gone: the end, without a word.
    if (error == EPIPE) {
      broken_({.rank = -1, .kind = FailureKind::exit, .code = exit_code_of_signal(SIGPIPE), .message = ""});
    } else {
      broken_({.rank = -1,
               .kind = FailureKind::exit,
               .code = 1,
               .message = std::string("cannot write to standard output: ") + std::strerror(error)});
    }
  }
  progressed();
}

}  // namespace shoal::detail

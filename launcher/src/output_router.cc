// Backpressure: a source whose sink is full is not read; its pipe fills and its rank waits in write(). When a rank has
// ended, what its pipes hold (at most their capacity) is taken at once, so that it precedes what is said of its end.
#include "output_router.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "exit_status.h"
#include "shoal/runtime/error.h"

namespace shoal::detail {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::size_t kMostAtOnce = std::size_t{4} << 20;

void make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Error(ErrorCode::system, "cannot make the directory " + path + ": " + error.message());
}

}  // namespace

OutputRouter::OutputRouter(int ranks, OutputOptions options)
    : options_(std::move(options)),
      shows_on_terminal_(options_.show && !options_.tag && !options_.timestamp &&
                         ::isatty(options_.standard_output) == 1),
      buffer_(kReadBytes) {
  if (!options_.log_directory.empty()) make_directory(options_.log_directory);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string number = std::to_string(rank);
    for (const char* stream : {".out", ".err"}) {
      auto source = std::make_unique<Source>();
      source->tag = "[" + number + "] ";
      source->lines = LineBuffer(shows_on_terminal_);
      source->pipe = make_pipe(("the output of rank " + number).c_str());
      source->shown = shows(rank);
      if (!options_.log_directory.empty())
        source->log.emplace(options_.log_directory + "/rank." + number + stream, options_.append_to_logs);
      sources_.push_back(std::move(source));
    }
  }
}

bool OutputRouter::shows(int rank) const {
  return options_.show && (!options_.only_ranks || std::ranges::count(*options_.only_ranks, rank) > 0);
}

void OutputRouter::attach(int rank) {
  const auto first = 2 * static_cast<std::size_t>(rank);
  ::dup2(sources_[first]->pipe.write.get(), STDOUT_FILENO);
  ::dup2(sources_[first + 1]->pipe.write.get(), STDERR_FILENO);
}

void OutputRouter::start(boost::asio::io_context& loop, std::function<void(const FirstFailure&)> broken) {
  broken_ = std::move(broken);
  const int out = options_.standard_output;
  const bool one = out == STDERR_FILENO || same_stream(out, STDERR_FILENO);
  sinks_.push_back(std::make_unique<OutputSink>(loop, out, [this](int error) { sink_broken(true, error); }));
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
    const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(size));
    write_log(source, bytes);
    if (source.shown) source.lines.append(bytes);
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
  if (!options_.tag && !options_.timestamp) {
    source.sink->put(text);
    return;
  }
  const bool continued = !source.sink->at_line_start() && open_line_ == &source;
  if (!source.sink->at_line_start() && !continued) source.sink->put("\n");
  source.sink->put(tag_lines(text, prefix_of(source), continued));
  open_line_ = &source;
}

void OutputRouter::write_log(Source& source, std::string_view bytes) {
  const int error = source.log ? source.log->write(bytes) : 0;
  if (error != 0)
    broken_({.rank = -1,
             .kind = FailureKind::exit,
             .code = 1,
             .message = "cannot write to " + source.log->path() + ": " + std::strerror(error)});
}

std::string OutputRouter::prefix_of(const Source& source) const {
  return (options_.tag ? source.tag : std::string()) + (options_.timestamp ? time_of_day() + " " : std::string());
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
  // As for any program in a pipeline whose reader has gone: the end, without a word.
  if (error == EPIPE) {
    broken_({.rank = -1, .kind = FailureKind::exit, .code = exit_code_of_signal(SIGPIPE), .message = ""});
  } else {
    const std::string stream = standard_output ? "output" : "error";
    broken_({.rank = -1,
             .kind = FailureKind::exit,
             .code = 1,
             .message = "cannot write to standard " + stream + ": " + std::strerror(error)});
  }
  progressed();
}

std::string time_of_day() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  ::localtime_r(&now.tv_sec, &local);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%T.", &local);
  return text.data() + std::to_string(1000 + now.tv_nsec / 1'000'000).substr(1);
}

}  // namespace shoal::detail

#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "descriptor.h"
#include "job_output.h"
#include "line_buffer.h"
#include "output_sink.h"

namespace shoal::detail {

/// Carries standard output and error of the ranks, each through a pipe of its own, to those of the launcher, whole
/// line by whole line, and the launcher's own lines between them. Bytes are passed on as they are; with tags, each
/// line begins with "[rank] " and a last line gets the newline that it lacks where another follows.
class OutputRouter final : public JobOutput {
 public:
  /// Before any fork. Throws Error `system` if there are not enough descriptors.
  OutputRouter(int ranks, bool tagged);

  /// In the child that becomes rank `rank`: its standard output and error are the pipes from here on.
  void attach(int rank);

  void start(boost::asio::io_context& loop, std::function<void(const FirstFailure&)> broken) override;
  void announce(const std::string& line) override;
  void rank_ended(int rank) override;
  void finish(std::function<void()> done) override;
  void stop() override;

 private:
  /// One stream of one rank.
  struct Source {
    std::string tag;
    Pipe pipe;
    std::optional<boost::asio::posix::stream_descriptor> reader;
    LineBuffer lines;
    OutputSink* sink = nullptr;
    bool paused = false;  // The sink is full.
    bool ended = false;
  };

  void listen(Source& source);
  bool read_some(Source& source);
  void read_all(Source& source);
  void pass_on(Source& source, const std::string& text);
  void progressed();
  void finish_if_idle();
  void sink_broken(bool standard_output, int error);

  bool tagged_;
  std::vector<std::unique_ptr<Source>> sources_;  // Standard output and error of rank 0, of rank 1, ...
  std::vector<char> buffer_;
  std::vector<std::unique_ptr<OutputSink>> sinks_;  // Both streams, or the one that they share.
  const Source* open_line_ = nullptr;               // Whose unfinished line a tagged sink ends with.
  std::function<void(const FirstFailure&)> broken_;
  std::function<void()> done_;
};

}  // namespace shoal::detail

#pragma once

#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "descriptor.h"
#include "job_output.h"
#include "line_buffer.h"
#include "log_file.h"
#include "output_sink.h"

namespace shoal::detail {

struct OutputOptions {
  int standard_output = STDOUT_FILENO;  ///< Where that of the ranks is shown.
  bool tag = false;
  bool timestamp = false;
  bool show = true;
  std::optional<std::vector<int>> only_ranks;  ///< Who is shown; unset: all.
  std::string log_directory;                   ///< Made if it is not there; empty: no files.
  bool append_to_logs = false;
};

/// Carries standard output and error of the ranks, each through a pipe of its own, to those of the launcher, whole
/// line by whole line, and the launcher's own lines between them. Bytes are passed on as they are; with tags or times,
/// each line begins with "[rank] ", "HH:MM:SS.mmm " or both, and a last line gets the newline that it lacks where
/// another follows. Log files hold each stream as it was written.
class OutputRouter final : public JobOutput {
 public:
  /// Before any fork. Throws Error `system` if there are not enough descriptors, or a log file cannot be had.
  OutputRouter(int ranks, OutputOptions options);

  /// Whether standard output of the ranks goes to a terminal as it is written.
  bool shows_on_terminal() const { return shows_on_terminal_; }

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
    std::optional<LogFile> log;
    bool shown = true;
    OutputSink* sink = nullptr;
    bool paused = false;  // The sink is full.
    bool ended = false;
  };

  bool shows(int rank) const;
  void listen(Source& source);
  bool read_some(Source& source);
  void read_all(Source& source);
  void pass_on(Source& source, const std::string& text);
  void write_log(Source& source, std::string_view bytes);
  std::string prefix_of(const Source& source) const;
  void progressed();
  void finish_if_idle();
  void sink_broken(bool standard_output, int error);

  OutputOptions options_;
  bool shows_on_terminal_;
  std::vector<std::unique_ptr<Source>> sources_;  // Standard output and error of rank 0, of rank 1, ...
  std::vector<char> buffer_;
  std::vector<std::unique_ptr<OutputSink>> sinks_;  // Both streams, or the one that they share.
  const Source* open_line_ = nullptr;               // Whose unfinished line a sink with prefixes ends with.
  std::function<void(const FirstFailure&)> broken_;
  std::function<void()> done_;
};

/// The time of day, "14:03:59.125".
std::string time_of_day();

}  // namespace shoal::detail

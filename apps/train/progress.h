#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>

namespace shoal::train {

enum class ProgressStyle { none, plain, bar };

/// `auto` of the command line: a bar where standard output ends on a terminal, its own or shoalrun's, else plain lines.
ProgressStyle automatic_progress();

/// Tells people how training goes on: ten lines or so, or one line that is written over, ten times a second at most.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// Of steps `done` + 1 .. `steps`.
  Progress(std::ostream& out, ProgressStyle style, std::uint64_t done, std::uint64_t steps, Clock::time_point now);

  /// Whether something would be shown after this step: then its figures are worth gathering.
  bool shows(std::uint64_t step, Clock::time_point now) const;

  struct Figures {
    std::uint64_t step = 0;
    double loss = 0.0;
    std::uint64_t samples = 0;  ///< Of all the steps since the start.
    std::uint64_t bytes_sent = 0;
  };
  void show(const Figures& figures, Clock::time_point now);

  /// Leaves the line of the bar.
  void finish();

 private:
  std::string text(const Figures& figures, Clock::time_point now) const;

  std::ostream* out_;
  ProgressStyle style_;
  std::uint64_t done_;
  std::uint64_t steps_;
  Clock::time_point start_;
  Clock::time_point shown_;
  std::size_t width_ = 0;  // Of the line that stands there.
};

}  // namespace shoal::train

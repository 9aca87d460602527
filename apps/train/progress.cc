#include "train/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <string_view>

namespace shoal::train {
namespace {

constexpr std::uint64_t kLines = 10;
constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::size_t kBarCells = 24;

double seconds(Progress::Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string time_text(double left) {
  const auto whole = static_cast<std::uint64_t>(std::ceil(left));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

}  // namespace

ProgressStyle automatic_progress() {
  // Under shoalrun standard output is a pipe to it; it says where that goes.
  const char* terminal = std::getenv("SHOAL_TERMINAL");
  const bool is_terminal = terminal != nullptr ? std::string_view(terminal) == "1" : ::isatty(STDOUT_FILENO) == 1;
  return is_terminal ? ProgressStyle::bar : ProgressStyle::plain;
}

Progress::Progress(std::ostream& out, ProgressStyle style, std::uint64_t done, std::uint64_t steps,
                   Clock::time_point now)
    : out_(&out), style_(style), done_(done), steps_(steps), start_(now), shown_(now - kRedraw) {}

bool Progress::shows(std::uint64_t step, Clock::time_point now) const {
  if (style_ == ProgressStyle::none) return false;
  if (step == done_ + 1 || step == steps_) return true;
  if (style_ == ProgressStyle::bar) return now - shown_ >= kRedraw;
  return step % std::max<std::uint64_t>(1, (steps_ - done_) / kLines) == 0;
}

void Progress::show(const Figures& figures, Clock::time_point now) {
  shown_ = now;
  if (style_ == ProgressStyle::plain) {
    *out_ << "step " << figures.step << " of " << steps_ << text(figures, now) << std::endl;
    return;
  }
  const auto filled = static_cast<std::size_t>(kBarCells * figures.step / std::max<std::uint64_t>(1, steps_));
  const std::string line = "[" + std::string(filled, '#') + std::string(kBarCells - filled, '.') + "] step " +
                           std::to_string(figures.step) + " of " + std::to_string(steps_) + text(figures, now);
  // What is left of a longer line is written over.
  *out_ << line << std::string(width_ - std::min(width_, line.size()), ' ') << '\r' << std::flush;
  width_ = line.size();
}

std::string Progress::text(const Figures& figures, Clock::time_point now) const {
  constexpr double kMega = 1e6;
  const double elapsed = seconds(now - start_);
  std::ostringstream text;
  text << std::fixed << std::setprecision(6) << "  loss " << figures.loss;
  if (elapsed > 0.0)
    text << std::setprecision(0) << "  " << static_cast<double>(figures.samples) / elapsed << " samples/s";
  text << std::setprecision(1) << "  " << static_cast<double>(figures.bytes_sent) / kMega << " MB sent";
  if (figures.step < steps_)
    text << "  "
         << time_text(elapsed / static_cast<double>(figures.step - done_) * static_cast<double>(steps_ - figures.step))
         << " left";
  return text.str();
}

void Progress::finish() {
  if (style_ == ProgressStyle::bar && width_ > 0) *out_ << std::endl;
  width_ = 0;
}

}  // namespace shoal::train

#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shoal::train {

float Schedule::learning_rate(std::uint64_t update) const {
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  if (update < warmup) return static_cast<float>(static_cast<double>(peak) * share(update + 1, warmup));
  if (kind == ScheduleKind::constant || updates <= warmup) return peak;
  const double done = std::min(1.0, share(update - warmup, updates - warmup));
  const double left = kind == ScheduleKind::linear ? 1.0 - done : 0.5 * (1.0 + std::cos(std::numbers::pi * done));
  return static_cast<float>(static_cast<double>(peak) * left);
}

}  // namespace shoal::train

#pragma once

#include <cstdint>

namespace shoal::train {

enum class ScheduleKind { constant, cosine, linear };

/// The learning rate of each update. The first `warmup` updates rise in equal steps to `peak`, the last of them has
/// it. Over the rest of `updates`, constant stays there; cosine (Loshchilov and Hutter, SGDR, 2017) and linear fall,
/// so that the update after the last would have 0.
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  float peak = 0.001F;
  std::uint64_t warmup = 0;
  std::uint64_t updates = 0;

  /// Of update number 0, 1, 2, ...
  float learning_rate(std::uint64_t update) const;
};

}  // namespace shoal::train

#pragma once

#include <array>

#include "shoal/runtime/calibration.h"

namespace shoal::detail {

/// What a calibration is made for.
struct Measured {
  int ranks = 1;
  int cores = 1;                         ///< Ranks that can run at once.
  std::array<int, 2> hop_cores{-1, -1};  ///< Two that the job may use; -1: it has no two.
};

/// Takes less than 50 ms. What cannot be measured is as in the reference table. The caller's thread stays on the cores
/// it is allowed.
Calibration measure_calibration(const Measured& measured);

/// Whether these can be figures of a machine: what comes from a file, or a clock that was stopped, may be anything.
bool is_plausible(const Calibration& calibration);

}  // namespace shoal::detail

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/phases.h"

namespace shoal::plan {

/// What a plan is checked for. As given here it is that of seed 002_ac5c69751b844236.
struct CheckSettings {
  std::vector<std::uint64_t> worlds{8, 16};  ///< At least one.
  std::uint64_t samples = 16384;
  PhaseSizes sizes = {};
};

struct CheckedPlan {
  std::uint64_t strong_unique_samples = 0;
  std::string strong_union_sha256 = {};  ///< Of the strong phase's ids in rising order, int64, little-endian.
};

/// Goes through the phases of every world, rank by rank: each update's ids are those it should have, each once in the
/// strong phase, the same in every world; in the weak phase every rank has what its rank modulo the base world has in
/// each world. Then that dynamic_weights() give the mean over all tokens for uneven shares.
///
/// Throws PlanError, which names world, phase and step, if any of it is not so.
CheckedPlan check_plan(const CheckSettings& settings = {});

}  // namespace shoal::plan

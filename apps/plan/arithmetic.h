#pragma once

#include <cstdint>
#include <string>

#include "plan/plan_error.h"

namespace shoal::plan {

/// Ids of samples are signed, as the stream's hash takes them.
inline constexpr std::uint64_t kMostId = (std::uint64_t{1} << 63U) - 1;

/// Throws PlanError, which begins with `what`.
inline void require_positive(std::uint64_t value, const std::string& what) {
  if (value == 0) throw PlanError(what + " 0: at least 1 is needed");
}

/// Sum and product, at most kMostId. Throw PlanError, which begins with `what`.
inline std::uint64_t sum(std::uint64_t left, std::uint64_t right, const std::string& what) {
  std::uint64_t result = 0;
  if (__builtin_add_overflow(left, right, &result) || result > kMostId)
    throw PlanError(what + ": " + std::to_string(left) + " + " + std::to_string(right) + " is over 2^63 - 1");
  return result;
}

inline std::uint64_t product(std::uint64_t left, std::uint64_t right, const std::string& what) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(left, right, &result) || result > kMostId)
    throw PlanError(what + ": " + std::to_string(left) + " * " + std::to_string(right) + " is over 2^63 - 1");
  return result;
}

}  // namespace shoal::plan

#pragma once

#include <vector>

#include "shoal/runtime/operation.h"

namespace shoal::detail {

/// An algorithm that could do a call, and how long that should take.
struct Candidate {
  Algorithm algorithm = Algorithm::automatic;
  double predicted_ns = 0;
};

/// Why a call is made as it is, for SHOAL_EXPLAIN.
struct Choice {
  bool forced = false;                  ///< By the caller, or SHOAL_ALGORITHM.
  std::vector<Candidate> candidates{};  ///< The chosen one among them; empty where nothing is predicted.
};

}  // namespace shoal::detail

#pragma once

#include "shoal/collectives/cost.h"

namespace shoal::detail {

/// How long a call should take by query.algorithm on the machine of query.calibration: a figure to compare algorithms
/// by, from what the closed form says they move. query.rank is not used: it is the time of the call as a whole.
double predicted_ns(const CostQuery& query);

}  // namespace shoal::detail

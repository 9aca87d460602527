#pragma once

#include "shoal/collectives/cost.h"

namespace shoal::detail {

/// As cost(), for a query that is known to be right and names its algorithm.
Cost closed_form(const CostQuery& query);

/// Transfers that `rank` of `ranks` makes in `call`, for error texts; `count` is the whole vector.
std::uint32_t steps_of(const Call& call, std::uint64_t count, int ranks, int rank);

}  // namespace shoal::detail

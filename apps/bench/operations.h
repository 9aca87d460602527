#pragma once

#include <span>

#include "shoal/runtime/operation.h"

namespace shoal::bench {

/// What shoal-bench runs, in the order of `--op all`.
std::span<const Operation> operations();

/// False for barrier.
bool has_data(Operation operation);
/// Cut into one chunk a rank, all of the same size here: the vector is the largest that is no longer than asked.
bool is_cut(Operation operation);

/// nccl-tests' factor from algorithm bandwidth, the vector's bytes by the time, to bus bandwidth, which does not depend
/// on the number of ranks where each byte moves as often as it must.
double bus_factor(Operation operation, int ranks);

}  // namespace shoal::bench

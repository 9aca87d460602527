#pragma once

#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {

/// Returns once every rank of `comm` has called it. Moves no payload.
/// Algorithms: tiny (one step, in which each rank looks at P-1 others; default up to 64 ranks), dissemination (ceil(log2 P)
/// steps).
void barrier(Communicator& comm, Options options = {});

}  // namespace shoal

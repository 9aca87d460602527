#pragma once

#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {

/// Returns once every rank of `comm` has called it. Moves no payload; ceil(log2 P) steps.
/// Algorithms: dissemination.
void barrier(Communicator& comm, Options options = {});

}  // namespace shoal

#pragma once

#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

namespace shoal {

/// Returns once every rank of `comm` has called it. Moves no payload. Errors: see Options.
///
/// Cost: no bytes. By default one step for P up to 64, tiny, in which a rank looks at the P-1 others; else
/// ceil(log2 P) steps, dissemination.
void barrier(Communicator& comm, Options options = {});

}  // namespace shoal

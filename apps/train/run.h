#pragma once

#include "shoal/shoal.h"
#include "train/options.h"

namespace shoal::train {

/// All ranks together: the whole run, from reading the data to the report. Returns this rank's exit status. Parameters,
/// gradients and the optimizer's state lie in the session's heap.
///
/// Throws InputError (rank 0 alone; the others, waiting for it, get `peer_lost`) and UsageError (all ranks alike).
int run_training(Session& session, const TrainOptions& options);

}  // namespace shoal::train

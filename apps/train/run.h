#pragma once

#include "shoal/shoal.h"
#include "train/options.h"

namespace shoal::train {

/// All ranks together: the whole run, from reading the data to the report. Returns this rank's exit status.
///
/// Throws InputError (rank 0 alone; the others, waiting for it, get `peer_lost`) and UsageError (all ranks alike).
int run_training(Communicator& comm, const TrainOptions& options);

}  // namespace shoal::train

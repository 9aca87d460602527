#pragma once

#include <filesystem>

#include "shoal/shoal.h"
#include "train/sharded_model.h"

namespace shoal::train {

/// All ranks together: rank 0 writes the masters as a safetensors file of `layers.0.weight` (inputs x outputs),
/// `layers.0.bias`, ..., f32, aside first and then under its name. A link stays, what it leads to is
/// replaced; what is no regular file is not. Throws AgreedError. One agreement, and at most a
/// gather of each layer.
void export_model(Communicator& comm, const std::filesystem::path& file, ShardedModel& model);

}  // namespace shoal::train

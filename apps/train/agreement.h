#pragma once

#include <functional>

#include "shoal/shoal.h"

namespace shoal::train {

/// All ranks together: each does its part of something that can fail on one rank and not on another, as whatever has to
/// do with files can. If any did, all throw AgreedError with the text of the lowest rank that did, and nobody waits for
/// somebody who has left. One all_reduce of an i64; after a failure also a broadcast.
void together(Communicator& comm, const std::function<void()>& part);

}  // namespace shoal::train

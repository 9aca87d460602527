#pragma once

#include <optional>

#include "command_line.h"
#include "shoal/runtime/cores.h"

namespace shoal::detail {

/// The core on which rank `rank` of `ranks` is to run; empty: wherever the kernel puts it. `core` deals the allowed
/// cores out in turn; `automatic` does so only where that gives each rank one of its own and leaves none over.
std::optional<int> core_of_rank(Binding binding, int rank, int ranks, const AllowedCores& allowed);

/// Binds this process. A refusal (the mask has changed meanwhile) leaves it as it is.
void bind_to_core(int core);

}  // namespace shoal::detail

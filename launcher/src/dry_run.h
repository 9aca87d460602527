#pragma once

#include <string>
#include <vector>

#include "binding.h"
#include "command_line.h"
#include "shoal/runtime/cores.h"

namespace shoal::detail {

/// What --dry-run prints: the ranks with their programs, places and environment, and the shared memory that they need.
std::string describe_job(const CommandLine& line, const AllowedCores& allowed, const std::vector<Core>& cores,
                         const std::vector<Processors>& placement);

}  // namespace shoal::detail

#pragma once

#include <vector>

#include "shoal/runtime/cores.h"

namespace shoal::detail {

/// A physical core, and which of its processors (hardware threads) this process may use: at least one.
struct Core {
  int package = 0;
  int numa_node = 0;
  std::vector<int> processors;

  friend bool operator==(const Core&, const Core&) = default;
};

/// The cores with an allowed processor, neighbours next to each other, as hwloc finds them; where it finds none, every
/// allowed processor is a core of its own.
std::vector<Core> allowed_topology(const AllowedCores& allowed);

/// The same of a machine described in hwloc's way ("pack:2 core:4 pu:2"), for tests.
std::vector<Core> described_topology(const char* description, const AllowedCores& allowed);

}  // namespace shoal::detail

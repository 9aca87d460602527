#pragma once

#include <string>

#include "shoal/runtime/communicator.h"

namespace shoal::bench {

/// What figures depend on besides the code.
struct Machine {
  std::string processor;  ///< As Linux names it; "unknown" where it does not.
  int cores = 1;          ///< That the ranks may use, all together.
  int ranks = 1;
};

/// As all ranks find it together: each may be bound to a core of its own.
Machine machine_of(Communicator& comm);

}  // namespace shoal::bench

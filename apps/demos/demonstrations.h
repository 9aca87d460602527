#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/runtime/communicator.h"

namespace shoal::demos {

/// One collective on a few small numbers, shown. All ranks call `run`; each gets the lines that it has to say,
/// rank 0's with the title before them.
struct Demonstration {
  std::string_view name;
  std::vector<std::string> (*run)(Communicator& comm);
};

/// All of them, in the order in which `all` shows them: barrier, gather, scatter, broadcast, all_to_all,
/// all_gather, reduce_scatter, all_reduce, reduce.
std::span<const Demonstration> demonstrations();

}  // namespace shoal::demos

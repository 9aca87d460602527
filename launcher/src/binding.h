#pragma once

#include <string>
#include <vector>

#include "topology.h"

namespace shoal::detail {

enum class Binding { automatic, core, none };

/// The processors on which a rank may run, ascending; empty: wherever the kernel puts it.
using Processors = std::vector<int>;

/// Where each of `ranks` ranks is to run. `core` deals the cores out in turn: a whole core to each rank as long as
/// there are enough, else single processors, those of different cores first, and from the beginning again when all are
/// given. `automatic` does so only where it gives each rank a core, or a processor, of its own and leaves none over.
/// `at_once`: ranks that may run at once, which a quota can make fewer than there are processors.
std::vector<Processors> place_ranks(Binding binding, int ranks, const std::vector<Core>& cores, int at_once);

/// Binds this process. A refusal (the mask has changed meanwhile) leaves it as it is.
void bind_to(const Processors& processors);

/// "rank 1: processor 5 (package 0, NUMA node 0)"; "rank 1: not bound".
std::string describe_binding(int rank, const Processors& processors, const std::vector<Core>& cores);

}  // namespace shoal::detail

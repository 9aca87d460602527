#pragma once

// All of shoal that a program of ranks needs: a Session, its Communicator, and the operations on it.
//
//     #include <shoal/shoal.h>
//
//     shoal::Session session;
//     std::vector<float> gradient = ...;
//     shoal::all_reduce(session.world(), gradient, shoal::ReduceOp::mean);

#include "shoal/collectives/all_gather.h"      // IWYU pragma: export
#include "shoal/collectives/all_gather_v.h"    // IWYU pragma: export
#include "shoal/collectives/all_reduce.h"      // IWYU pragma: export
#include "shoal/collectives/all_to_all.h"      // IWYU pragma: export
#include "shoal/collectives/all_to_all_v.h"    // IWYU pragma: export
#include "shoal/collectives/barrier.h"         // IWYU pragma: export
#include "shoal/collectives/broadcast.h"       // IWYU pragma: export
#include "shoal/collectives/cost.h"            // IWYU pragma: export
#include "shoal/collectives/element.h"         // IWYU pragma: export
#include "shoal/collectives/float16.h"         // IWYU pragma: export
#include "shoal/collectives/gather.h"          // IWYU pragma: export
#include "shoal/collectives/gather_v.h"        // IWYU pragma: export
#include "shoal/collectives/options.h"         // IWYU pragma: export
#include "shoal/collectives/partition.h"       // IWYU pragma: export
#include "shoal/collectives/point_to_point.h"  // IWYU pragma: export
#include "shoal/collectives/reduce.h"          // IWYU pragma: export
#include "shoal/collectives/reduce_scatter.h"  // IWYU pragma: export
#include "shoal/collectives/scatter.h"         // IWYU pragma: export
#include "shoal/collectives/scatter_v.h"       // IWYU pragma: export
#include "shoal/runtime/communicator.h"        // IWYU pragma: export
#include "shoal/runtime/error.h"               // IWYU pragma: export
#include "shoal/runtime/log.h"                 // IWYU pragma: export
#include "shoal/runtime/operation.h"           // IWYU pragma: export
#include "shoal/runtime/session.h"             // IWYU pragma: export
#include "shoal/runtime/traffic.h"             // IWYU pragma: export

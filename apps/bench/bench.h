#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/method.h"
#include "bench/options.h"
#include "bench/plan.h"
#include "shoal/runtime/session.h"

namespace shoal::bench {

/// One operation at one size, measured.
struct Row {
  calls::CollectiveCall call;
  std::uint64_t bytes = 0;                     ///< As asked.
  Algorithm algorithm = Algorithm::automatic;  ///< The one that ran.
  Times times;
  std::vector<std::uint64_t> sent;  ///< By each rank in one call, by the ledger.
  bool checked = false;
};

/// Measures the rows of `plan`, as all ranks do together, and gives each to `tell`. Throws UsageError if the heap is
/// too small for the buffers; std::runtime_error, on a rank whose result is wrong, that says where and how.
void run_plan(Session& session, const BenchOptions& options, const Plan& plan,
              const std::function<void(const Row&)>& tell);

}  // namespace shoal::bench

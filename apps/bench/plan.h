#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/options.h"
#include "calls/collective_call.h"

namespace shoal::bench {

/// One row to measure.
struct PlannedRow {
  calls::CollectiveCall call;
  std::uint64_t bytes = 0;  ///< As asked; of a barrier 0.
};

struct Plan {
  std::vector<PlannedRow> rows;
  std::vector<std::string> left_out;  ///< What is not measured, and why.
  std::uint64_t in_bytes = 0;         ///< The largest buffers that any rank needs for any row.
  std::uint64_t out_bytes = 0;
};

/// The rows of `options` in a world of `ranks`: all sizes of an operation, then the next; barrier once. A vector has as
/// many elements as fit into the bytes asked for, the same number for each rank where it is cut; sizes with less than
/// one for each rank are left out. Throws UsageError for an algorithm that cannot do a row.
Plan plan_rows(const BenchOptions& options, int ranks);

}  // namespace shoal::bench

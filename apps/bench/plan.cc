#include "bench/plan.h"

#include <algorithm>

#include "bench/operations.h"

namespace shoal::bench {
namespace {

bool too_small(std::uint64_t bytes, const BenchOptions& options, int ranks) {
  return bytes / element_bytes(options.type) < static_cast<std::uint64_t>(ranks);
}

void add(Plan& plan, const BenchOptions& options, Operation operation, std::uint64_t bytes, int ranks) {
  const auto divisor = is_cut(operation) ? static_cast<std::uint64_t>(ranks) : 1;
  const calls::CollectiveCall call{.operation = operation,
                                   .algorithm = options.algorithm,
                                   .type = options.type,
                                   .count = bytes / element_bytes(options.type) / divisor * divisor,
                                   .reduce_op = options.reduce_op,
                                   .in_place = options.in_place};
  calls::refuse_impossible(call, ranks);
  const calls::BufferSizes sizes = calls::buffer_sizes(call, ranks, 0);  // The root's, which no other's exceed.
  plan.in_bytes = std::max(plan.in_bytes, sizes.in * element_bytes(call.type));
  plan.out_bytes = std::max(plan.out_bytes, sizes.out * element_bytes(call.type));
  plan.rows.push_back({.call = call, .bytes = bytes});
}

}  // namespace

Plan plan_rows(const BenchOptions& options, int ranks) {
  Plan plan;
  for (const Operation operation : options.operations) {
    if (!has_data(operation)) {
      add(plan, options, operation, 0, ranks);
      continue;
    }
    for (const std::uint64_t bytes : options.sizes)
      if (!too_small(bytes, options, ranks)) add(plan, options, operation, bytes, ranks);
  }
  if (!std::ranges::any_of(options.operations, has_data)) return plan;
  for (const std::uint64_t bytes : options.sizes)
    if (too_small(bytes, options, ranks))
      plan.left_out.push_back("size " + std::to_string(bytes) + " is left out: less than one element of " +
                              std::string(name(options.type)) + " for each of " + std::to_string(ranks) +
                              (ranks == 1 ? " rank" : " ranks"));
  return plan;
}

}  // namespace shoal::bench

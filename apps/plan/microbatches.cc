#include "plan/microbatches.h"

#include <numeric>
#include <string>

#include "plan/plan_error.h"

namespace shoal::plan {
namespace {

void require_room(std::span<const std::uint64_t> lengths, const MicrobatchLimits& limits) {
  if (limits.max_padded_tokens == 0) throw PlanError("max padded tokens 0: at least 1 is needed");
  if (limits.max_examples == 0) throw PlanError("max examples 0: at least 1 is needed");
  for (std::size_t position = 0; position < lengths.size(); ++position) {
    if (lengths[position] > limits.max_padded_tokens)
      throw PlanError("length " + std::to_string(lengths[position]) + " at position " + std::to_string(position) +
                      ": over the " + std::to_string(limits.max_padded_tokens) + " tokens that a microbatch may hold");
  }
}

}  // namespace

std::vector<std::vector<std::size_t>> microbatches(std::span<const std::uint64_t> lengths,
                                                   const MicrobatchLimits& limits) {
  require_room(lengths, limits);
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t left, std::size_t right) { return lengths[left] < lengths[right]; });
  std::vector<std::vector<std::size_t>> batches;
  for (const std::size_t position : order) {
    if (batches.empty() || !limits.takes(batches.back().size(), lengths[position])) batches.emplace_back();
    batches.back().push_back(position);
  }
  return batches;
}

}  // namespace shoal::plan

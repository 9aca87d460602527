#include "plan/microbatches.h"

#include "plan/arithmetic.h"

namespace shoal::plan {

std::vector<std::vector<std::size_t>> microbatches(std::span<const std::uint64_t> lengths,
                                                   const MicrobatchLimits& limits) {
  require_positive(limits.max_padded_tokens, "max padded tokens");
  require_positive(limits.max_examples, "max examples");
  std::vector<Example> batch;
  for (const std::uint64_t length : lengths) batch.push_back({.length = length, .position = batch.size()});
  std::vector<std::vector<std::size_t>> batches;
  cut_microbatches(batch, limits, [&](std::span<const Example> microbatch) {
    auto& positions = batches.emplace_back();
    for (const Example& example : microbatch) positions.push_back(example.position);
  });
  return batches;
}

}  // namespace shoal::plan

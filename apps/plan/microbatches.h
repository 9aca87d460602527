#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace shoal::plan {

/// What a microbatch may hold. Its examples are padded to the longest of them.
struct MicrobatchLimits {
  static constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t max_padded_tokens = 12000;
  std::uint64_t max_examples = 16;

  /// Whether a microbatch of so many examples, none longer than `length`, has room for one of that length. An empty
  /// one has room for any.
  bool takes(std::uint64_t examples, std::uint64_t length) const {
    return examples == 0 || (examples < max_examples && length <= max_padded_tokens / (examples + 1));
  }

  /// The most tokens, without padding, of any microbatch of examples up to `longest`.
  std::uint64_t most_tokens(std::uint64_t longest) const {
    if (longest == 0) return 0;
    const bool tokens_end_it = max_examples > max_padded_tokens / longest;
    return std::max(longest, tokens_end_it ? max_padded_tokens : longest * max_examples);
  }
};

/// One example of a batch.
struct Example {
  std::uint64_t length = 0;  ///< Tokens.
  std::size_t position = 0;  ///< In the batch.

  friend auto operator<=>(const Example&, const Example&) = default;
};

/// Cuts one batch into microbatches, and calls visit(std::span<const Example>) with each: the shorter examples first,
/// equal ones in the batch's order; each microbatch takes what it has room for before the next begins. An example that is
/// longer than max_padded_tokens has one to itself. Every example is in one microbatch, and none of these is empty. Sorts
/// `batch`, and takes no memory.
template <class Visit>
void cut_microbatches(std::span<Example> batch, const MicrobatchLimits& limits, Visit&& visit) {
  std::sort(batch.begin(), batch.end());
  std::size_t first = 0;
  for (std::size_t i = 1; i <= batch.size(); ++i) {
    if (i < batch.size() && limits.takes(i - first, batch[i].length)) continue;
    visit(std::span<const Example>(batch.subspan(first, i - first)));
    first = i;
  }
}

/// The same of examples by their lengths: positions into `lengths`. Throws PlanError for a limit of 0.
std::vector<std::vector<std::size_t>> microbatches(std::span<const std::uint64_t> lengths,
                                                   const MicrobatchLimits& limits = {});

}  // namespace shoal::plan

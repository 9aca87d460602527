#pragma once

#include <algorithm>
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

/// The examples of one batch, by their lengths in tokens, cut into microbatches: positions into `lengths`, the shorter
/// examples first, equal ones in the batch's order; each microbatch takes what it has room for before the next begins.
/// Every example is in one microbatch, and none of these is empty.
///
/// Throws PlanError for a limit of 0 and for an example that is longer than max_padded_tokens, whose microbatch could
/// not keep to it. Costs a sort.
std::vector<std::vector<std::size_t>> microbatches(std::span<const std::uint64_t> lengths,
                                                   const MicrobatchLimits& limits = {});

}  // namespace shoal::plan

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::plan {

/// What one microbatch of one rank has of an update, beside what all of them have on all ranks.
struct TokenCounts {
  std::uint64_t local_frames = 0;
  std::uint64_t local_samples = 0;
  std::uint64_t global_frames = 0;
  std::uint64_t global_samples = 0;
};

/// The channels of a loss: one of text, of weight 1, which has a token for each frame and one more for each sample; and
/// so many of audio with a token for each frame, which share `audio_weight`. As given here they are those of seed
/// 002_ac5c69751b844236.
struct Channels {
  std::uint64_t audio = 12;
  double audio_weight = 32.0;
};

/// Coefficients of a loss that divides by the sum of its weights: weights[0] of the text channel, then one of each audio
/// channel. The caller multiplies that loss by `scale`.
struct DynamicWeights {
  std::vector<double> weights = {};
  double scale = 0.0;
};

/// The weights that make the mean over `world` ranks, of the sums over each rank's microbatches, the mean over all tokens
/// of the update, channel by channel, however unevenly frames and samples are shared out. A microbatch without any has
/// weights and scale of 0, and must add 0 rather than divide by their sum.
///
/// The arithmetic is the seed's, operation by operation in f64. Throws PlanError for a world, total or number of channels
/// of 0, for more here than in all, for a weight that is not finite and above 0, and for counts that f64 cannot hold.
DynamicWeights dynamic_weights(const TokenCounts& counts, std::uint64_t world, const Channels& channels = {});

}  // namespace shoal::plan

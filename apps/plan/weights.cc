#include "plan/weights.h"

#include <cmath>
#include <numeric>
#include <string>

#include "plan/arithmetic.h"
#include "plan/plan_error.h"

namespace shoal::plan {
namespace {

/// Whole numbers up to here are exact in f64, and so is a quotient's one rounding.
constexpr std::uint64_t kMostExact = std::uint64_t{1} << 53U;
constexpr std::uint64_t kMostChannels = std::uint64_t{1} << 20U;

void require_part(const std::string& name, std::uint64_t local, std::uint64_t global) {
  require_positive(global, "global " + name);
  if (local > global)
    throw PlanError("local " + name + " " + std::to_string(local) + ": more than the " + std::to_string(global) +
                    " of all ranks");
}

double exact(std::uint64_t value, const std::string& what) {
  if (value > kMostExact)
    throw PlanError(what + ": " + std::to_string(value) + " is over 2^53, where f64 is not exact");
  return static_cast<double>(value);
}

}  // namespace

DynamicWeights dynamic_weights(const TokenCounts& counts, std::uint64_t world, const Channels& channels) {
  require_positive(world, "world");
  require_part("frames", counts.local_frames, counts.global_frames);
  require_part("samples", counts.local_samples, counts.global_samples);
  require_positive(channels.audio, "channels");
  if (channels.audio > kMostChannels) throw PlanError("channels " + std::to_string(channels.audio) + ": over 2^20");
  if (!std::isfinite(channels.audio_weight) || channels.audio_weight <= 0.0)
    throw PlanError("channels weight: a finite number above 0 is needed");
  const std::string text = "text tokens";
  const double ranks = exact(world, "world");
  const double of_text = exact(product(world, sum(counts.local_frames, counts.local_samples, text), text), text) /
                         exact(sum(counts.global_frames, counts.global_samples, text), text);
  const double of_audio = channels.audio_weight / static_cast<double>(channels.audio) * ranks *
                          exact(counts.local_frames, "local frames") / exact(counts.global_frames, "global frames");
  DynamicWeights result;
  result.weights.assign(channels.audio + 1, of_audio);
  result.weights.front() = of_text;
  const double sum_of_weights = std::accumulate(result.weights.begin(), result.weights.end(), 0.0);
  result.scale = sum_of_weights / (1.0 + channels.audio_weight);
  if (!std::isfinite(result.scale)) throw PlanError("channels weight: too large for f64");
  return result;
}

}  // namespace shoal::plan

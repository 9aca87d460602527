// The ids of an update are compared with what they should be by themselves: counted on from the update's first one.

#include "plan/check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "hash/sha256.h"
#include "plan/plan_error.h"
#include "plan/weights.h"

namespace shoal::plan {
namespace {

using Ids = std::vector<std::int64_t>;

[[noreturn]] void fail(const Phase& phase, std::uint64_t world, std::uint64_t step, const std::string& what) {
  throw PlanError(phase.name + " phase in a world of " + std::to_string(world) + ", step " + std::to_string(step) +
                  ": " + what);
}

/// Of all ranks, in rising order.
Ids ids_of_update(const Phase& phase, std::uint64_t world, std::uint64_t step, std::uint64_t samples) {
  Ids ids = step_batch(phase, step, world, samples);
  for (std::uint64_t rank = 0; rank < world; ++rank) {
    const Ids own = step_indices(phase, step, rank, world, samples);
    std::size_t at = rank;
    for (const std::int64_t id : own) {
      if (at >= ids.size() || ids[at] != id) fail(phase, world, step, "the ranks' ids are not the update's");
      at += world;
    }
    if (at < ids.size()) fail(phase, world, step, "a rank has not all of its ids");
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// What an update presents, in rising order: ids in a row, each as often as there are ranks with its stream.
Ids expected_ids(const Phase& phase, std::uint64_t world, std::uint64_t step) {
  const std::uint64_t streams = phase.replicated_base_world.value_or(1);
  const std::uint64_t count = phase.replicated_base_world ? phase.global_batch / world * streams : phase.global_batch;
  Ids ids;
  for (std::uint64_t at = 0; at < count; ++at) {
    const std::uint64_t stream = at % streams;
    const std::uint64_t ranks = phase.replicated_base_world ? (world - stream + streams - 1) / streams : 1;
    if (stream < world) ids.insert(ids.end(), ranks, static_cast<std::int64_t>(phase.offset + step * count + at));
  }
  return ids;
}

/// All ids of the phase, in the order of its updates.
Ids check_phase(const Phase& phase, std::uint64_t world, std::uint64_t samples) {
  Ids seen;
  for (std::uint64_t step = 0; step < phase.updates; ++step) {
    const Ids ids = ids_of_update(phase, world, step, samples);
    if (ids != expected_ids(phase, world, step)) fail(phase, world, step, "its ids are not those that are next");
    seen.insert(seen.end(), ids.begin(), ids.end());
  }
  return seen;
}

/// Every rank of any world has the weak streams of the first world's ranks.
void check_weak_streams(const CheckSettings& settings) {
  const Phase first = benchmark_phases(settings.sizes.weak_base_world, settings.sizes)[1];
  for (const std::uint64_t world : settings.worlds) {
    Phase weak = benchmark_phases(world, settings.sizes)[1];
    for (std::uint64_t step = 0; step < weak.updates; ++step)
      for (std::uint64_t rank = 0; rank < world; ++rank)
        if (step_indices(weak, step, rank, world, settings.samples) !=
            step_indices(first, step, rank % settings.sizes.weak_base_world, settings.sizes.weak_base_world,
                         settings.samples))
          fail(weak, world, step, "rank " + std::to_string(rank) + " has another stream than in the base world");
  }
}

/// A channel of random values, shared out unevenly: the weighted means of the shares, averaged over ranks as their
/// gradients are, must be the channel's mean times its share of all weights.
void check_weights() {
  constexpr std::array<std::uint64_t, 4> kFrames{13, 49, 81, 120};
  constexpr std::array<std::uint64_t, 4> kSamples{1, 3, 5, 7};
  constexpr double kTolerance = 1e-13;
  constexpr std::uint64_t kAllFrames = 263;
  constexpr std::uint64_t kAllSamples = 16;
  const Channels channels;
  std::mt19937_64 numbers(71);
  double expected = 0.0;
  double actual = 0.0;
  for (std::size_t rank = 0; rank < kFrames.size(); ++rank) {
    double of_rank = 0.0;
    for (std::uint64_t frame = 0; frame < kFrames[rank]; ++frame)
      of_rank += static_cast<double>(numbers() >> 11U) * 0x1p-53;
    expected += of_rank;
    const auto [weights, scale] =
        dynamic_weights({kFrames[rank], kSamples[rank], kAllFrames, kAllSamples}, kFrames.size(), channels);
    double all_weights = 0.0;
    for (const double weight : weights) all_weights += weight;
    actual += of_rank / static_cast<double>(kFrames[rank]) * weights[1] / all_weights * scale /
              static_cast<double>(kFrames.size());
  }
  expected *= channels.audio_weight / static_cast<double>(channels.audio) / (1.0 + channels.audio_weight) /
              static_cast<double>(kAllFrames);
  if (std::abs(actual - expected) > kTolerance * expected)
    throw PlanError("the weights do not give the mean over all tokens");
}

}  // namespace

CheckedPlan check_plan(const CheckSettings& settings) {
  if (settings.worlds.empty()) throw PlanError("no world to check");
  Ids strong_ids;
  for (const std::uint64_t world : settings.worlds) {
    const auto [strong, weak] = benchmark_phases(world, settings.sizes);
    Ids ids = check_phase(strong, world, settings.samples);
    if (strong_ids.empty()) strong_ids = ids;
    if (ids != strong_ids) fail(strong, world, 0, "other samples than in a world of another size");
    check_phase(weak, world, settings.samples);
  }
  check_weak_streams(settings);
  check_weights();
  CheckedPlan checked{.strong_unique_samples = strong_ids.size()};
  Sha256 hash;
  hash.add(std::as_bytes(std::span(strong_ids)));
  checked.strong_union_sha256 = hash.finish();
  return checked;
}

}  // namespace shoal::plan

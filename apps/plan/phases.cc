// Both kinds of phases are strides through a stretch of ids: in an update, the ids of rank r are
//
//     first + r % stride, first + r % stride + stride, ...          all below end
//
// where the stride is the world's size, or that of the world whose streams are replicated.

#include "plan/phases.h"

#include <algorithm>

#include "plan/arithmetic.h"
#include "plan/plan_error.h"

namespace shoal::plan {
namespace {

struct Stretch {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::uint64_t stride = 1;
};

void require_rank(std::uint64_t rank, std::uint64_t world) {
  if (rank >= world)
    throw PlanError("rank " + std::to_string(rank) + ": not in a world of " + std::to_string(world) +
                    ", numbered from 0");
}

void require_updates(const std::string& name, std::uint64_t updates, std::uint64_t warmup) {
  if (warmup >= updates)
    throw PlanError(name + " warm-up " + std::to_string(warmup) + ": leaves none of " + std::to_string(updates) +
                    " updates to be timed");
}

/// Distinct samples of an update.
std::uint64_t samples_of_update(const Phase& phase, std::uint64_t world) {
  require_positive(world, "world");
  if (world > kMostId) throw PlanError("world " + std::to_string(world) + ": over 2^63 - 1");
  require_positive(phase.global_batch, phase.name + " batch");
  if (!phase.replicated_base_world) return phase.global_batch;
  require_positive(*phase.replicated_base_world, phase.name + " base world");
  if (phase.global_batch % world != 0)
    throw PlanError(phase.name + " batch " + std::to_string(phase.global_batch) + ": no multiple of the world of " +
                    std::to_string(world));
  return product(*phase.replicated_base_world, phase.global_batch / world, phase.name + " batch");
}

Stretch stretch_of(const Phase& phase, std::uint64_t step, std::uint64_t world, std::uint64_t samples) {
  const std::uint64_t count = samples_of_update(phase, world);
  if (phase.replicated_base_world) {
    const std::string what = phase.name + " step " + std::to_string(step);
    const std::uint64_t first = sum(phase.offset, product(step, count, what), what);
    return {.first = first, .end = sum(first, count, what), .stride = *phase.replicated_base_world};
  }
  if (samples > kMostId) throw PlanError("samples " + std::to_string(samples) + ": over 2^63 - 1");
  // Where the samples end before the step begins, where it would begin may be no number any more.
  if (phase.offset >= samples || step > (samples - 1 - phase.offset) / count) return {};
  const std::uint64_t first = phase.offset + step * count;
  return {.first = first, .end = first + std::min(count, samples - first), .stride = world};
}

}  // namespace

std::array<Phase, 2> benchmark_phases(std::uint64_t world, const PhaseSizes& sizes) {
  require_updates("strong", sizes.strong_updates, sizes.strong_warmup);
  require_updates("weak", sizes.weak_updates, sizes.weak_warmup);
  const Phase strong{.name = "strong",
                     .offset = 0,
                     .global_batch = sizes.strong_batch,
                     .updates = sizes.strong_updates,
                     .warmup = sizes.strong_warmup};
  const Phase weak{.name = "weak",
                   .offset = samples_read(strong, world),
                   .global_batch = product(world, sizes.weak_batch, "weak batch"),
                   .updates = sizes.weak_updates,
                   .warmup = sizes.weak_warmup,
                   .replicated_base_world = sizes.weak_base_world};
  samples_read(weak, world);  // Throws where the plan has no end.
  return {strong, weak};
}

std::vector<std::int64_t> step_indices(const Phase& phase, std::uint64_t step, std::uint64_t rank, std::uint64_t world,
                                       std::uint64_t samples) {
  require_rank(rank, world);
  const Stretch stretch = stretch_of(phase, step, world, samples);
  const std::uint64_t place = rank % stretch.stride;
  std::vector<std::int64_t> ids;
  const std::uint64_t count = stretch.end - stretch.first;
  if (place >= count) return ids;
  ids.reserve((count - place - 1) / stretch.stride + 1);
  for (std::uint64_t at = place; at < count; at += stretch.stride)
    ids.push_back(static_cast<std::int64_t>(stretch.first + at));
  return ids;
}

std::vector<std::int64_t> step_batch(const Phase& phase, std::uint64_t step, std::uint64_t world,
                                     std::uint64_t samples) {
  const Stretch stretch = stretch_of(phase, step, world, samples);
  const std::uint64_t count = stretch.end - stretch.first;
  std::vector<std::int64_t> ids;
  for (std::uint64_t row = 0; row < count; row += stretch.stride) {
    for (std::uint64_t rank = 0; rank < world; ++rank) {
      const std::uint64_t at = row + rank % stretch.stride;
      if (at >= count) break;
      ids.push_back(static_cast<std::int64_t>(stretch.first + at));
    }
  }
  return ids;
}

std::uint64_t batch_of_rank(const Phase& phase, std::uint64_t rank, std::uint64_t world) {
  require_rank(rank, world);
  samples_of_update(phase, world);  // Throws where there is none.
  if (rank >= phase.global_batch) return 0;
  return (phase.global_batch - rank - 1) / world + 1;
}

std::uint64_t samples_read(const Phase& phase, std::uint64_t world) {
  const std::string what = phase.name + " phase";
  return sum(phase.offset, product(phase.updates, samples_of_update(phase, world), what), what);
}

}  // namespace shoal::plan

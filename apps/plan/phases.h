#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal::plan {

/// A stretch of one global stream of samples 0, 1, 2, ..., which a benchmark goes through update by update.
///
/// An update takes `global_batch` samples over all ranks, in strides: rank r of W has those at positions r, r + W, ...
/// of the update's batch. Where `replicated_base_world` is set, the phase compares worlds by work that is the same on
/// every rank: the streams are those of a world of that size, and rank r has the one of rank r modulo that size, so that
/// in larger worlds samples are presented more than once.
struct Phase {
  std::string name = {};
  std::uint64_t offset = 0;        ///< The first sample's id.
  std::uint64_t global_batch = 0;  ///< Samples an update presents, on all ranks together.
  std::uint64_t updates = 0;       ///< Those of the warm-up included.
  std::uint64_t warmup = 0;        ///< The first so many updates, which no rate counts.
  std::optional<std::uint64_t> replicated_base_world = std::nullopt;

  std::uint64_t timed_updates() const { return updates - warmup; }
};

/// What the two phases of a benchmark are made of. As given here they are those of seed 002_ac5c69751b844236.
struct PhaseSizes {
  std::uint64_t strong_batch = 256;  ///< Of all ranks together.
  std::uint64_t strong_updates = 40;
  std::uint64_t strong_warmup = 10;
  std::uint64_t weak_batch = 32;  ///< Of each rank.
  std::uint64_t weak_updates = 12;
  std::uint64_t weak_warmup = 4;
  std::uint64_t weak_base_world = 8;
};

/// Strong scaling, one batch shared by all ranks; then weak scaling, one batch for each, from where the former ends.
/// Throws PlanError for a world or a size of 0, a warm-up that leaves no update, or ids over 2^63 - 1.
std::array<Phase, 2> benchmark_phases(std::uint64_t world, const PhaseSizes& sizes = {});

/// Ids that `rank` of `world` has in an update, rising; empty where there is nothing left. A phase without replication
/// ends with the samples there are, the last of them in a batch that is shorter; one with replication does not look at
/// `samples` (samples_read() says how many it needs). Steps past the phase's updates go on in the same way.
///
/// Throws PlanError for a rank outside of the world, a replicated batch that the world does not divide, or ids over
/// 2^63 - 1. Costs time and memory in proportion to what it returns.
std::vector<std::int64_t> step_indices(const Phase& phase, std::uint64_t step, std::uint64_t rank, std::uint64_t world,
                                       std::uint64_t samples);

/// The update's whole batch in global order: step_indices() of rank r are its elements r, r + world, r + 2 world, ...
std::vector<std::int64_t> step_batch(const Phase& phase, std::uint64_t step, std::uint64_t world,
                                     std::uint64_t samples);

/// The most samples that an update gives `rank` of `world`.
std::uint64_t batch_of_rank(const Phase& phase, std::uint64_t rank, std::uint64_t world);

/// With so many samples, each update of the phase is whole: all its ids are below.
std::uint64_t samples_read(const Phase& phase, std::uint64_t world);

}  // namespace shoal::plan

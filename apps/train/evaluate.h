#pragma once

#include <cstdint>

#include "train/dataset.h"
#include "train/memory.h"
#include "train/sharded_model.h"

namespace shoal::train {

/// Evaluation goes in blocks of consecutive samples; rank r has the blocks congruent to r, several in a round, and
/// in each round all ranks take every layer once. A block is computed by itself, so a sample's outputs have the
/// same bits in every world.
inline constexpr std::size_t kEvaluationBlock = 256;
inline constexpr std::size_t kBlocksPerRound = 4;

/// Rounds that evaluating so many samples takes on every rank.
std::uint64_t evaluation_rounds(std::size_t samples, int ranks);

/// All ranks together: how many samples of `data` the model classifies as labelled, each sample counted once.
std::int64_t count_correct_over_ranks(ShardedModel& model, Transport& transport, const Split& data,
                                      std::pmr::memory_resource& scratch);

}  // namespace shoal::train

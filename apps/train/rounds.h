#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/microbatches.h"
#include "train/mlp.h"
#include "train/objective.h"
#include "train/stream.h"

namespace shoal::train {

/// What one lane computes in one round.
struct LanePart {
  std::span<const std::int64_t> samples = {};
  Segment rows = {};  ///< Among the rows that this rank computes in the round.
};

/// How a batch is computed. It is split into V lanes: lane v has the samples at positions v, v + V, v + 2V, ...; rank r
/// of P has the lanes congruent to r modulo P. A lane's part is a computation of its own, so that its bits do not
/// depend on which rank makes it; and the canonical tree over all lanes is the one over each rank's lanes followed by
/// the one over ranks, if V and P are powers of two.
///
/// With limits, a lane's samples, those without rows left out, are cut into the plan's microbatches
/// (plan/microbatches.h), one for each round: there are as many rounds as the lane with the most needs, of all lanes, so
/// every rank has as many as the others.
///
/// Memory is taken at the start, and by no cut().
class Rounds {
 public:
  /// `largest_batch`: the most samples of any batch.
  Rounds(std::size_t lanes, int rank, int ranks, std::size_t largest_batch,
         std::optional<plan::MicrobatchLimits> limits, const Objective& objective);

  /// Of this batch from now on. The ids are copied.
  void cut(std::span<const std::int64_t> batch);

  std::size_t count() const { return count_; }

  /// Of this rank's lanes, in rising order; parts may be empty.
  std::span<const LanePart> parts(std::size_t round) const {
    return std::span(parts_).subspan(round * own_lanes_, own_lanes_);
  }

  std::size_t own_lanes() const { return own_lanes_; }
  /// The most rows that this rank computes in any round of any batch.
  std::size_t most_rows() const { return most_rows_; }
  /// Rows of the batch, over all lanes of all ranks.
  std::uint64_t rows_of_batch() const { return rows_; }

 private:
  bool is_own(std::size_t lane) const { return lane % ranks_ == rank_; }
  std::span<plan::Example> examples_of(std::size_t lane, std::span<const std::int64_t> batch);
  void add_part(std::size_t lane, std::size_t round, std::span<const plan::Example> examples,
                std::span<const std::int64_t> batch);

  std::size_t lanes_;
  std::size_t rank_;
  std::size_t ranks_;
  std::size_t own_lanes_;
  std::optional<plan::MicrobatchLimits> limits_;
  const Objective* objective_;
  std::size_t most_rows_ = 0;
  std::vector<plan::Example> examples_;  // Of one lane.
  std::vector<std::int64_t> samples_;    // Part after part.
  std::size_t filled_ = 0;
  std::vector<LanePart> parts_;  // Round after round.
  std::size_t count_ = 0;
  std::uint64_t rows_ = 0;
};

/// How often a run's gradients are reduced, and its parameters updated, as its samples alone decide.
struct RoundCount {
  std::uint64_t rounds = 0;
  std::uint64_t updates = 0;  ///< Steps with any rows.
};

/// Of `steps` steps after the first `first` ones of the stream, which is at its beginning. Goes through their samples only
/// where these differ in their rows.
RoundCount count_rounds(SampleStream stream, std::uint64_t first, std::uint64_t steps, std::size_t lanes,
                        std::size_t batch, std::optional<plan::MicrobatchLimits> limits, const Objective& objective);

}  // namespace shoal::train

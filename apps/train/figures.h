#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "shoal/shoal.h"
#include "train/ledger.h"
#include "train/memory.h"

namespace shoal::train {

/// What one rank has to say at the end, of fixed size so that it can be sent.
struct RankFigures {
  OperationLedger steps;  ///< Of the training steps, as counted.
  OperationLedger predicted_steps;
  OperationLedger other;  ///< Of all else up to the gathering of these figures.
  OperationLedger predicted_other;
  std::array<std::uint64_t, kMemoryUses> memory_bytes{};  ///< Peak of each use, during training.
  std::array<std::uint64_t, 3> state_by_formula{};        ///< Of parameters, gradients and optimizer, as plan.h has it.
  std::uint64_t peak_rss_bytes = 0;
  double compute_s = 0.0;
  double communicate_s = 0.0;
  std::array<char, 64> parameters_sha256{};

  bool matches() const { return steps == predicted_steps; }
  bool other_matches() const { return other == predicted_other; }
};

/// All ranks together: the figures of all, in rank order, on rank 0; nothing on the others. The bytes of this call
/// are in nobody's figures.
std::vector<RankFigures> gather_figures(Communicator& comm, const RankFigures& own);

}  // namespace shoal::train

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/figures.h"
#include "train/options.h"

namespace shoal::train {

/// All that the report and the table say. Rank 0 has it whole.
struct RunRecord {
  TrainOptions options;
  int ranks = 1;
  std::size_t parameters = 0;
  std::uint64_t steps = 0;
  std::string stream_sha256;
  std::string parameters_sha256;
  std::vector<double> losses;  ///< Of each step's batch, before its update.
  std::optional<double> train_accuracy;
  std::optional<double> test_accuracy;
  std::vector<RankFigures> per_rank;
  double wall_s = 0.0;
  double timed_s = 0.0;  ///< Of the steps that count for speed, ...
  std::uint64_t timed_steps = 0;
  std::uint64_t timed_samples = 0;

  bool matches() const;        ///< The steps' bytes are those predicted, on every rank and in every operation.
  bool other_matches() const;  ///< So are the others'.
};

/// The report of schema shoal.train/1, JSON.
std::string report_json(const RunRecord& record);

/// For each rank and operation, the bytes of the steps beside those predicted; the last line says whether they
/// are equal.
std::string traffic_table(const RunRecord& record);

}  // namespace shoal::train

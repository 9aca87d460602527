#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/phases.h"
#include "train/figures.h"
#include "train/options.h"
#include "train/training.h"

namespace shoal::train {

/// All that the report and the table say. Rank 0 has it whole.
struct RunRecord {
  TrainOptions options = {};
  std::optional<plan::Phase> phase = std::nullopt;  ///< Of the plan's benchmark, if it is one.
  int ranks = 1;
  std::size_t parameters = 0;
  TrainingRecord training = {};
  std::string parameters_sha256 = {};
  std::optional<double> train_accuracy = std::nullopt;
  std::optional<double> test_accuracy = std::nullopt;
  std::vector<RankFigures> per_rank = {};
  double wall_s = 0.0;

  bool matches() const;        ///< The steps' bytes are those predicted, on every rank and in every operation.
  bool other_matches() const;  ///< So are the others'.
};

/// The report of schema shoal.train/1, JSON.
std::string report_json(const RunRecord& record);

/// For each rank and operation, the bytes of the steps beside those predicted; the last line says whether they
/// are equal.
std::string traffic_table(const RunRecord& record);

}  // namespace shoal::train

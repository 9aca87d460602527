#include "train/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "plan/json.h"

namespace shoal::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kCurvePoints = 1000;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

/// Step numbers begin with 1. Long runs are thinned evenly; the last step is always there.
Json loss_curve(const std::vector<double>& losses) {
  const std::size_t stride = (losses.size() + kCurvePoints - 1) / kCurvePoints;
  Json curve = Json::array();
  for (std::size_t i = 0; i < losses.size(); ++i)
    if (i % stride == 0 || i + 1 == losses.size()) curve.push_back({i + 1, losses[i]});
  return curve;
}

Json traffic_of_rank(std::size_t rank, const OperationLedger& counted, const OperationLedger& predicted) {
  Json by_op = Json::object();
  for (std::size_t i = 0; i < kOperationCount; ++i) {
    const TrafficCount& row = counted.rows[i];
    if (row == TrafficCount{}) continue;
    by_op[std::string(name(static_cast<Operation>(i)))] = {
        {"calls", row.calls}, {"sent", row.sent}, {"received", row.received}};
  }
  return {{"rank", rank},
          {"sent", counted.total().sent},
          {"received", counted.total().received},
          {"predicted_sent", predicted.total().sent},
          {"predicted_received", predicted.total().received},
          {"by_op", std::move(by_op)}};
}

Json traffic(const RunRecord& record) {
  Json steps = Json::array();
  Json other = Json::array();
  for (std::size_t rank = 0; rank < record.per_rank.size(); ++rank) {
    const RankFigures& figures = record.per_rank[rank];
    steps.push_back(traffic_of_rank(rank, figures.steps, figures.predicted_steps));
    other.push_back(traffic_of_rank(rank, figures.other, figures.predicted_other));
  }
  return {{"per_rank", std::move(steps)},
          {"matches_prediction", record.matches()},
          {"other", {{"per_rank", std::move(other)}, {"matches_prediction", record.other_matches()}}}};
}

Json memory(const RunRecord& record) {
  Json per_rank = Json::array();
  for (std::size_t rank = 0; rank < record.per_rank.size(); ++rank) {
    const RankFigures& figures = record.per_rank[rank];
    const auto bytes = [&](MemoryUse use) { return figures.memory_bytes[static_cast<std::size_t>(use)]; };
    per_rank.push_back({{"rank", rank},
                        {"parameter_bytes", bytes(MemoryUse::parameter)},
                        {"gradient_bytes", bytes(MemoryUse::gradient)},
                        {"optimizer_bytes", bytes(MemoryUse::optimizer)},
                        {"scratch_bytes", bytes(MemoryUse::scratch)},
                        {"peak_rss_bytes", figures.peak_rss_bytes},
                        {"formula",
                         {{"parameter_bytes", figures.state_by_formula[0]},
                          {"gradient_bytes", figures.state_by_formula[1]},
                          {"optimizer_bytes", figures.state_by_formula[2]}}}});
  }
  return {{"per_rank", std::move(per_rank)}};
}

Json time(const RunRecord& record) {
  double compute_s = 0.0;
  double communicate_s = 0.0;
  for (const RankFigures& figures : record.per_rank) {
    compute_s += figures.compute_s / record.ranks;
    communicate_s += figures.communicate_s / record.ranks;
  }
  const auto per_second = [&](std::uint64_t count) {
    return record.training.timed_s > 0.0 ? static_cast<double>(count) / record.training.timed_s : 0.0;
  };
  return {{"wall_s", record.wall_s},
          {"steps_per_s", per_second(record.training.timed_steps)},
          {"samples_per_s", per_second(record.training.timed_samples)},
          {"compute_s", compute_s},
          {"communicate_s", communicate_s}};
}

std::string padded(const std::string& text, std::size_t width, bool to_the_left = false) {
  const std::size_t missing = width - std::min(width, text.size());
  return to_the_left ? text + std::string(missing, ' ') : std::string(missing, ' ') + text;
}

std::string table_row(const std::string& rank, const std::string& operation, const std::vector<std::string>& numbers) {
  std::string row = padded(rank, 4) + "  " + padded(operation, 14, true);
  for (const std::string& number : numbers) row += padded(number, 20);
  return row + "\n";
}

std::string table_row(const std::string& rank, const std::string& operation, const TrafficCount& counted,
                      const TrafficCount& predicted) {
  std::vector<std::string> numbers;
  for (const std::uint64_t number : {counted.sent, predicted.sent, counted.received, predicted.received})
    numbers.push_back(std::to_string(number));
  return table_row(rank, operation, numbers);
}

}  // namespace

bool RunRecord::matches() const {
  return std::all_of(per_rank.begin(), per_rank.end(), [](const RankFigures& rank) { return rank.matches(); });
}

bool RunRecord::other_matches() const {
  return std::all_of(per_rank.begin(), per_rank.end(), [](const RankFigures& rank) { return rank.other_matches(); });
}

std::string report_json(const RunRecord& record) {
  const TrainOptions& options = record.options;
  const std::vector<double>& losses = record.training.state.losses;
  const Json report = {
      {"schema", "shoal.train/1"},
      {"world", record.ranks},
      {"stage", options.stage},
      {"parameters", record.parameters},
      {"steps", record.training.state.step},
      {"first_step", record.training.first_step},
      {"stopped", record.training.stop_signal != 0},
      {"phase", record.phase ? plan::to_json(*record.phase) : Json(nullptr)},
      {"global_batch", options.batch},
      {"accumulate", options.accumulate},
      {"lanes", options.lanes},
      {"precision", name(options.precision)},
      {"optimizer", name(options.optimizer.kind)},
      {"stream_sha256", record.training.stream_sha256},
      {"param_sha256", record.parameters_sha256},
      {"loss", {{"first", losses.front()}, {"last", losses.back()}, {"curve", loss_curve(losses)}}},
      {"accuracy", {{"train", or_null(record.train_accuracy)}, {"test", or_null(record.test_accuracy)}}},
      {"bytes", traffic(record)},
      {"memory", memory(record)},
      {"time", time(record)}};
  return report.dump(2) + "\n";
}

std::string traffic_table(const RunRecord& record) {
  std::string table = table_row("rank", "operation", {"bytes sent", "predicted", "bytes received", "predicted"});
  for (std::size_t rank = 0; rank < record.per_rank.size(); ++rank) {
    const RankFigures& figures = record.per_rank[rank];
    for (std::size_t i = 0; i < kOperationCount; ++i) {
      const TrafficCount& counted = figures.steps.rows[i];
      const TrafficCount& predicted = figures.predicted_steps.rows[i];
      if (counted == TrafficCount{} && predicted == TrafficCount{}) continue;
      table += table_row(std::to_string(rank), std::string(name(static_cast<Operation>(i))), counted, predicted);
    }
    table += table_row(std::to_string(rank), "total", figures.steps.total(), figures.predicted_steps.total());
  }
  table += record.matches() ? "The bytes moved equal those predicted, on every rank and in every operation.\n"
                            : "The bytes moved DIFFER from those predicted.\n";
  return table;
}

}  // namespace shoal::train

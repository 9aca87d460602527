#include "sim/simulated_training.h"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/phantom_call.h"
#include "train/layout.h"
#include "train/plan.h"

namespace shoal::sim {
namespace {

train::RunPlan plan_of_a_step(const TrainingShape& shape) {
  return {.dims = shape.dims,
          .stage = shape.stage,
          .ranks = shape.ranks,
          .moments = train::moments_of(shape.optimizer),
          .steps = 1,
          .rounds = 1,
          .updates = 1};
}

template <class Visit>
void for_each_operation(const train::OperationLedger& ledger, Visit&& visit) {
  for (std::size_t index = 0; index < kOperationCount; ++index)
    if (ledger.rows[index] != TrafficCount{}) visit(name(static_cast<Operation>(index)), ledger.rows[index]);
}

}  // namespace

SimulatedTraining simulate_training(const TrainingShape& shape) {
  const train::Layout layout(shape.dims);
  const train::RunPlan plan = plan_of_a_step(shape);
  const auto calls = train::training_calls(plan);
  const PhantomData data(layout.largest_layer(), shape.ranks, DataType::f64);  // The widest of the plan's calls.
  const auto step = [&](Communicator& comm) {
    for (const train::PlannedCall& call : calls)
      for (std::uint64_t time = 0; time < call.times; ++time)
        make_call(comm,
                  {.operation = call.operation, .algorithm = call.algorithm, .type = call.type, .count = call.count},
                  data);
  };
  const SimulationResult run = simulate(shape.ranks, step, prediction_options());
  expect_success(run);

  SimulatedTraining result{.shape = shape, .parameters = layout.parameters(), .ranks = {}, .closed_form_matches = true};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const SimulatedRank& ran = run.ranks[static_cast<std::size_t>(rank)];
    const train::StateBytes state = train::state_bytes(plan, rank);
    const TrainingRank figures{.step = train::by_operation(ran.traffic),
                               .parameter_bytes = state.parameter,
                               .gradient_bytes = state.gradient,
                               .optimizer_bytes = state.optimizer};
    if (figures.step != train::predict(calls, rank, shape.ranks)) result.closed_form_matches = false;
    result.ranks.push_back(figures);
  }
  return result;
}

std::string json_text(const SimulatedTraining& result) {
  nlohmann::ordered_json json{{"op", "train"},
                              {"world", result.ranks.size()},
                              {"stage", result.shape.stage},
                              {"dims", result.shape.dims},
                              {"optimizer", train::name(result.shape.optimizer)},
                              {"parameters", result.parameters}};
  auto& per_rank = json["per_rank"] = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    const TrainingRank& figures = result.ranks[rank];
    const TrafficCount total = figures.step.total();
    nlohmann::ordered_json by_op = nlohmann::ordered_json::object();
    for_each_operation(figures.step, [&](std::string_view operation, const TrafficCount& count) {
      by_op[std::string(operation)] = {{"calls", count.calls}, {"sent", count.sent}, {"received", count.received}};
    });
    per_rank.push_back({{"rank", rank},
                        {"sent", total.sent},
                        {"received", total.received},
                        {"by_op", std::move(by_op)},
                        {"parameter_bytes", figures.parameter_bytes},
                        {"gradient_bytes", figures.gradient_bytes},
                        {"optimizer_bytes", figures.optimizer_bytes}});
  }
  json["closed_form_matches"] = result.closed_form_matches;
  return json.dump() + "\n";
}

std::string table_text(const SimulatedTraining& result) {
  std::ostringstream text;
  const auto cell = [&](auto value, int width) { text << std::setw(width) << value; };
  text << "one step of stage " << result.shape.stage << ", " << result.parameters << " parameters, "
       << result.ranks.size() << (result.ranks.size() == 1 ? " rank\n" : " ranks\n");
  cell("ranks", 13);
  cell("operation", 16);
  cell("calls", 8);
  cell("sent", 16);
  cell("received", 16);
  text << "   memory: parameters, gradients, optimizer\n";
  for (std::size_t first = 0; first < result.ranks.size();) {
    const TrainingRank& figures = result.ranks[first];
    std::size_t last = first;
    while (last + 1 < result.ranks.size() && result.ranks[last + 1] == figures) ++last;
    std::string ranks = std::to_string(first) + (last == first ? "" : "-" + std::to_string(last));
    const auto row = [&](std::string_view operation, const TrafficCount& count) {
      cell(std::exchange(ranks, ""), 13);
      cell(operation, 16);
      cell(count.calls, 8);
      cell(count.sent, 16);
      cell(count.received, 16);
    };
    for_each_operation(figures.step, [&](std::string_view operation, const TrafficCount& count) {
      row(operation, count);
      text << '\n';
    });
    row("all", figures.step.total());
    text << "   " << figures.parameter_bytes << ", " << figures.gradient_bytes << ", " << figures.optimizer_bytes
         << '\n';
    first = last + 1;
  }
  text << "closed form " << (result.closed_form_matches ? "matches on every rank\n" : "DOES NOT MATCH\n");
  return text.str();
}

}  // namespace shoal::sim

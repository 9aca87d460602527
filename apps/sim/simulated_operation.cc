#include "sim/simulated_operation.h"

#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

namespace shoal::sim {
namespace {

double seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

bool matches(const SimulatedOperation::Rank& rank, const Cost& predicted) {
  return Cost{.sent = rank.sent, .received = rank.received, .steps = rank.steps, .messages = rank.messages} ==
         predicted;
}

}  // namespace

SimulatedOperation simulate_operation(const PhantomCall& call, int ranks) {
  const PhantomData data(call.count, ranks, call.type);
  const SimulationResult run = simulate(
      ranks, [&](Communicator& comm) { make_call(comm, call, data); }, prediction_options());
  expect_success(run);

  SimulatedOperation result{.operation = call.operation,
                            .algorithm = calls::algorithm_in(run.ranks[0].traffic, call.operation),
                            .bytes = call.count * element_bytes(call.type),
                            .ranks = {},
                            .time = run.time(),
                            .closed_form_matches = true};
  for (int rank = 0; rank < ranks; ++rank) {
    const SimulatedRank& ran = run.ranks[static_cast<std::size_t>(rank)];
    result.ranks.push_back({.sent = ran.traffic.sent,
                            .received = ran.traffic.received,
                            .messages = ran.messages,
                            .steps = ran.steps,
                            .clock = ran.clock});
    if (!matches(result.ranks.back(), calls::predicted_cost(call, ranks, rank))) result.closed_form_matches = false;
  }
  return result;
}

std::string json_text(const SimulatedOperation& result) {
  nlohmann::ordered_json json{{"op", name(result.operation)},
                              {"algorithm", name(result.algorithm)},
                              {"world", result.ranks.size()},
                              {"bytes", result.bytes}};
  auto& per_rank = json["per_rank"] = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    const auto& figures = result.ranks[rank];
    per_rank.push_back({{"rank", rank},
                        {"sent", figures.sent},
                        {"received", figures.received},
                        {"messages", figures.messages},
                        {"steps", figures.steps},
                        {"virtual_s", seconds(figures.clock)}});
  }
  json["virtual_s"] = seconds(result.time);
  json["closed_form_matches"] = result.closed_form_matches;
  return json.dump() + "\n";
}

std::string table_text(const SimulatedOperation& result) {
  std::ostringstream text;
  text << name(result.operation) << " by " << name(result.algorithm) << ", " << result.bytes << " bytes, "
       << result.ranks.size() << (result.ranks.size() == 1 ? " rank\n" : " ranks\n");
  text << std::setw(13) << "ranks" << std::setw(18) << "sent" << std::setw(18) << "received" << std::setw(12)
       << "messages" << std::setw(12) << "steps" << std::setw(14) << "virtual us" << '\n';
  for (std::size_t first = 0; first < result.ranks.size();) {
    const auto& figures = result.ranks[first];
    std::size_t last = first;
    while (last + 1 < result.ranks.size() && result.ranks[last + 1] == figures) ++last;
    const std::string ranks = std::to_string(first) + (last == first ? "" : "-" + std::to_string(last));
    text << std::setw(13) << ranks << std::setw(18) << figures.sent << std::setw(18) << figures.received
         << std::setw(12) << figures.messages << std::setw(12) << figures.steps << std::setw(14) << std::fixed
         << std::setprecision(2) << seconds(figures.clock) * 1e6 << '\n';
    first = last + 1;
  }
  text << "virtual time " << seconds(result.time) * 1e6 << " us; closed form "
       << (result.closed_form_matches ? "matches on every rank\n" : "DOES NOT MATCH\n");
  return text.str();
}

}  // namespace shoal::sim

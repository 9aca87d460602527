#include "selection.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "algorithms.h"
#include "arrivals.h"
#include "closed_form.h"
#include "kernels.h"
#include "notices.h"
#include "prediction.h"

namespace shoal::detail {
namespace {

constexpr std::array kBarrier{Algorithm::dissemination, Algorithm::tiny};
constexpr std::array kBroadcast{Algorithm::binomial, Algorithm::pipelined, Algorithm::direct};
constexpr std::array kReduce{Algorithm::pairwise, Algorithm::binomial, Algorithm::recursive_halving, Algorithm::direct,
                             Algorithm::ring};
constexpr std::array kAllReduce{Algorithm::pairwise,
                                Algorithm::recursive_doubling,
                                Algorithm::recursive_halving,
                                Algorithm::binomial,
                                Algorithm::tiny,
                                Algorithm::slots,
                                Algorithm::direct,
                                Algorithm::ring};
constexpr std::array kReduceScatter{Algorithm::pairwise, Algorithm::recursive_halving,
                                    Algorithm::tiny,     Algorithm::slots,
                                    Algorithm::direct,   Algorithm::ring};
constexpr std::array kAllGather{Algorithm::ring,  Algorithm::recursive_doubling,
                                Algorithm::bruck, Algorithm::tiny,
                                Algorithm::slots, Algorithm::direct};
constexpr std::array kRooted{Algorithm::linear, Algorithm::binomial};
constexpr std::array kScatterCyclic{Algorithm::linear};
constexpr std::array kAllToAll{Algorithm::pairwise, Algorithm::tiny, Algorithm::slots, Algorithm::direct};
constexpr std::array kAllGatherV{Algorithm::ring};
constexpr std::array kRootedV{Algorithm::linear};
constexpr std::array kAllToAllV{Algorithm::pairwise};

/// Forms each element of the result in one place, from the operands of all ranks.
bool sums_locally(Algorithm algorithm) {
  return algorithm == Algorithm::pairwise || algorithm == Algorithm::tiny || shows(algorithm);
}

/// What tiny would publish: the longest chunk where each rank has one to give, else all of the vector.
std::uint64_t arrival_bytes(Operation operation, CallSize size) {
  if (operation != Operation::all_gather) return size.bytes;
  const std::uint64_t elements = elements_in(size.bytes, size.type);
  const auto ranks = static_cast<std::uint64_t>(size.ranks);
  return (elements + ranks - 1) / ranks * element_bytes(size.type);
}

/// Rooted, of a size that all know.
bool streams(Operation operation) { return operation == Operation::broadcast || operation == Operation::reduce; }

/// Whether a call that asks for nothing may be made by it: it can do it, in the canonical order.
bool may_be_default(Algorithm algorithm, Operation operation, std::optional<Reduction> reduction, CallSize size) {
  // Only the root of a gather or a scatter knows the size.
  if (algorithms_of(operation).front() == Algorithm::linear) return algorithm == Algorithm::linear;
  if (reduction && accumulates_wider(reduction->op, reduction->type) && !sums_locally(algorithm)) return false;
  switch (algorithm) {
    case Algorithm::tiny:
      return size.ranks <= kMostLookedAt && arrival_bytes(operation, size) <= kTinyBytes;
    case Algorithm::slots:  // Elsewhere direct does the same, and may spare a copy.
      return size.ranks <= kMostLookedAt && operation == Operation::all_reduce;
    case Algorithm::direct:
      // In each round every rank waits for all, which a root must not with what a channel holds.
      return size.ranks <= kMostLookedAt && !(streams(operation) && size.bytes <= kStreamedBytes);
    case Algorithm::ring:
      return !reduces(operation);
    default:
      return true;
  }
}

double predict(Operation operation, Algorithm algorithm, CallSize size, const Calibration& calibration) {
  return predicted_ns({.operation = operation,
                       .algorithm = algorithm,
                       .count = elements_in(size.bytes, size.type),
                       .type = size.type,
                       .ranks = size.ranks,
                       .calibration = calibration});
}

/// Of equals the one that comes first here: that does least for one rank, or may spare a copy.
constexpr std::array kInOrder{Algorithm::tiny,  Algorithm::binomial, Algorithm::direct,
                              Algorithm::slots, Algorithm::linear,   Algorithm::dissemination};

/// visit(algorithm) for each that may be the default.
template <class Visit>
void visit_candidates(Operation operation, std::optional<Reduction> reduction, CallSize size, Visit&& visit) {
  const auto possible = algorithms_of(operation);
  const auto comes_first = [](Algorithm algorithm) { return std::ranges::find(kInOrder, algorithm) != kInOrder.end(); };
  const auto try_it = [&](Algorithm algorithm) {
    if (may_be_default(algorithm, operation, reduction, size)) visit(algorithm);
  };
  for (const Algorithm algorithm : kInOrder)
    if (std::ranges::find(possible, algorithm) != possible.end()) try_it(algorithm);
  for (const Algorithm algorithm : possible)
    if (!comes_first(algorithm)) try_it(algorithm);
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string names_of(std::span<const Algorithm> algorithms) {
  std::string names;
  for (const Algorithm algorithm : algorithms) {
    if (!names.empty()) names += ", ";
    names += name(algorithm);
  }
  return names;
}

/// What is wrong with one `operation:algorithm`; empty if it was entered into `choices`.
std::string enter_choice(std::string_view item, AlgorithmChoices& choices) {
  const std::size_t colon = item.find(':');
  if (colon == std::string_view::npos) return quoted(item) + " is not operation:algorithm";
  const auto operation = operation_named(item.substr(0, colon));
  if (!operation) return quoted(item.substr(0, colon)) + " is not an operation";
  if (algorithms_of(*operation).empty()) return std::string(name(*operation)) + " has no algorithms to choose from";
  const auto algorithm = algorithm_named(item.substr(colon + 1));
  if (!algorithm) return quoted(item.substr(colon + 1)) + " is not an algorithm";
  Algorithm& choice = choices.by_operation[static_cast<std::size_t>(*operation)];
  if (choice != Algorithm::automatic && choice != *algorithm)
    return "two algorithms for " + std::string(name(*operation));
  choice = *algorithm;
  return {};
}

}  // namespace

std::span<const Algorithm> algorithms_of(Operation operation) {
  switch (operation) {
    case Operation::barrier:
      return kBarrier;
    case Operation::broadcast:
      return kBroadcast;
    case Operation::reduce:
      return kReduce;
    case Operation::all_reduce:
      return kAllReduce;
    case Operation::reduce_scatter:
      return kReduceScatter;
    case Operation::all_gather:
      return kAllGather;
    case Operation::gather:
    case Operation::scatter:
      return kRooted;
    case Operation::scatter_cyclic:
      return kScatterCyclic;
    case Operation::all_to_all:
      return kAllToAll;
    case Operation::all_gather_v:
      return kAllGatherV;
    case Operation::gather_v:
    case Operation::scatter_v:
      return kRootedV;
    case Operation::all_to_all_v:
      return kAllToAllV;
    case Operation::send:
    case Operation::recv:
    case Operation::exchange:
    case Operation::split:
      break;
  }
  return {};
}

Algorithm default_algorithm(Operation operation, std::optional<Reduction> reduction, CallSize size,
                            const Calibration& calibration) {
  Algorithm best = Algorithm::automatic;
  double best_ns = 0;
  visit_candidates(operation, reduction, size, [&](Algorithm algorithm) {
    const double ns = has_choice(operation) ? predict(operation, algorithm, size, calibration) : 0;
    if (best != Algorithm::automatic && ns >= best_ns) return;
    best = algorithm;
    best_ns = ns;
  });
  return best;
}

std::vector<Candidate> candidates(Operation operation, std::optional<Reduction> reduction, CallSize size,
                                  const Calibration& calibration) {
  std::vector<Candidate> found;
  visit_candidates(operation, reduction, size, [&](Algorithm algorithm) {
    found.push_back({algorithm, predict(operation, algorithm, size, calibration)});
  });
  return found;
}

bool has_choice(Operation operation) {
  const auto possible = algorithms_of(operation);
  return possible.size() > 1 && possible.front() != Algorithm::linear;
}

AlgorithmChoices parse_algorithm_choices(std::string_view text) {
  AlgorithmChoices choices;
  bool more = !text.empty();
  while (more && choices.mistake.empty()) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    choices.mistake = enter_choice(text.substr(0, comma), choices);
    if (more) text.remove_prefix(comma + 1);
  }
  if (!choices.mistake.empty()) choices.mistake = "SHOAL_ALGORITHM: " + choices.mistake;
  return choices;
}

const AlgorithmChoices& environment_choices() {
  static const AlgorithmChoices choices = [] {
    const char* const text = std::getenv("SHOAL_ALGORITHM");
    return parse_algorithm_choices(text == nullptr ? "" : text);
  }();
  return choices;
}

Selection select(Operation operation, Algorithm asked, std::optional<Reduction> reduction,
                 const AlgorithmChoices& choices, CallSize size, const Calibration& calibration) {
  if (!choices.mistake.empty()) return {.algorithm = asked, .mistake = choices.mistake};
  const auto possible = algorithms_of(operation);
  if (possible.empty()) return {.algorithm = asked, .mistake = "has no algorithms to choose from"};

  Selection selection{.algorithm = forced_algorithm(operation, asked, choices), .mistake = {}};
  const bool from_environment = asked == Algorithm::automatic && selection.algorithm != Algorithm::automatic;
  if (selection.algorithm == Algorithm::automatic)
    selection.algorithm = default_algorithm(operation, reduction, size, calibration);

  const auto subject = [&] {
    return "algorithm " + std::string(name(selection.algorithm)) + (from_environment ? " (of SHOAL_ALGORITHM)" : "");
  };
  if (std::ranges::find(possible, selection.algorithm) == possible.end()) {
    selection.mistake = subject() + " is not one of: " + names_of(possible);
  } else if (selection.algorithm == Algorithm::tiny && arrival_bytes(operation, size) > kTinyBytes) {
    selection.mistake = subject() + " takes at most " + std::to_string(kTinyBytes) + " bytes of a rank, not " +
                        std::to_string(arrival_bytes(operation, size));
  } else if (shows(selection.algorithm) && size.ranks > kMostDirectRanks) {
    selection.mistake =
        subject() + " takes at most " + std::to_string(kMostDirectRanks) + " ranks, not " + std::to_string(size.ranks);
  } else if (reduction && accumulates_wider(reduction->op, reduction->type) && !sums_locally(selection.algorithm)) {
    // It passes partial results on in the type itself, where they wrap or are rounded again on every rank.
    selection.mistake = subject() + " cannot form the " + std::string(name(reduction->op)) + " of " +
                        std::string(name(reduction->type)) + ", which needs a wider " +
                        (reduction->op == ReduceOp::prod ? "product" : "sum") + " than travels; pairwise can";
  }
  return selection;
}

Algorithm forced_algorithm(Operation operation, Algorithm asked, const AlgorithmChoices& choices) {
  return asked == Algorithm::automatic ? choices.by_operation[static_cast<std::size_t>(operation)] : asked;
}

namespace {

// Rank 0 of a communicator never waits for the figures: it provides them, or its communicator comes from a split, in
// which they were provided.
void explain(Communicator& comm, const Call& call, std::optional<Reduction> reduction, CallSize size,
             const Options& options) {
  Choice choice{.forced =
                    forced_algorithm(call.operation, options.algorithm, environment_choices()) != Algorithm::automatic};
  if (has_choice(call.operation)) {
    const Calibration& calibration = comm.calibration_for(call, options.timeout);
    choice.candidates = candidates(call.operation, reduction, size, calibration);
    if (std::ranges::find(choice.candidates, call.algorithm, &Candidate::algorithm) == choice.candidates.end())
      choice.candidates.push_back({call.algorithm, predict(call.operation, call.algorithm, size, calibration)});
  }
  comm.explain(call, std::move(choice));
}

}  // namespace

void select_algorithm(Communicator& comm, Call& call, const Options& options) {
  call.algorithm = options.algorithm;
  const auto reduction =
      reduces(call.operation) ? std::optional(Reduction{.op = call.reduce_op, .type = call.type}) : std::nullopt;
  const CallSize size{.bytes = call.count * element_bytes(call.type), .ranks = comm.size(), .type = call.type};
  const AlgorithmChoices& choices = environment_choices();
  const bool by_figures = has_choice(call.operation) && comm.size() > 1 && choices.mistake.empty() &&
                          forced_algorithm(call.operation, options.algorithm, choices) == Algorithm::automatic;
  const Selection selection = select(call.operation, options.algorithm, reduction, choices, size,
                                     by_figures ? comm.calibration_for(call, options.timeout) : kReferenceCalibration);
  if (!selection.mistake.empty()) comm.refuse(call, selection.mistake);
  call.algorithm = selection.algorithm;
  if (comm.explains()) explain(comm, call, reduction, size, options);
}

void select_algorithm(Communicator& comm, Call& call, std::uint64_t whole, const Options& options) {
  Call asked = call;
  asked.algorithm = options.algorithm;
  if (const auto before = comm.chosen_before(asked, whole)) {
    call = *before;
    return;
  }
  select_algorithm(comm, call, options);
  call.steps = steps_of(call, whole, comm.size(), comm.rank());
  comm.remember_choice(asked, whole, call);
}

}  // namespace shoal::detail

#include "selection.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "algorithms.h"
#include "arrivals.h"
#include "closed_form.h"
#include "kernels.h"
#include "notices.h"

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
  const std::uint64_t elements = size.bytes / size.element_bytes;
  const auto ranks = static_cast<std::uint64_t>(size.ranks);
  return (elements + ranks - 1) / ranks * size.element_bytes;
}

bool has(Operation operation, Algorithm algorithm) {
  return std::ranges::find(algorithms_of(operation), algorithm) != algorithms_of(operation).end();
}

/// Of those that any fabric has.
Algorithm through_channels(Operation operation, std::optional<Reduction> reduction, CallSize size) {
  const bool few = size.bytes <= kFewBytes;
  const bool travels = !reduction || !accumulates_wider(reduction->op, reduction->type);
  const bool power_of_two = std::has_single_bit(static_cast<unsigned>(size.ranks));
  switch (operation) {
    case Operation::broadcast:
      return size.bytes >= kManyBytes && size.ranks > 2 ? Algorithm::pipelined : Algorithm::binomial;
    case Operation::reduce:
      return few && travels ? Algorithm::binomial : Algorithm::pairwise;
    case Operation::all_reduce:
      return few && travels ? Algorithm::recursive_doubling : Algorithm::pairwise;
    case Operation::reduce_scatter:
      return few && travels && power_of_two ? Algorithm::recursive_halving : Algorithm::pairwise;
    case Operation::all_gather:
      if (!few) return Algorithm::ring;
      return power_of_two ? Algorithm::recursive_doubling : Algorithm::bruck;
    default:
      return algorithms_of(operation).front();
  }
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

Algorithm default_algorithm(Operation operation, std::optional<Reduction> reduction, CallSize size) {
  // Up to kTinyRanks every rank may well look at the line of every other, in each round of arrivals.
  if (size.ranks <= kTinyRanks) {
    if (has(operation, Algorithm::tiny) && arrival_bytes(operation, size) <= kTinyBytes) return Algorithm::tiny;
    if (operation == Operation::all_reduce && size.bytes <= kSlotBytes) return Algorithm::slots;
    const bool streams = operation == Operation::broadcast || operation == Operation::reduce;
    if (has(operation, Algorithm::direct) && (!streams || size.bytes > kStreamedBytes)) return Algorithm::direct;
  }
  return through_channels(operation, reduction, size);
}

bool reduces(Operation operation) {
  return operation == Operation::reduce || operation == Operation::all_reduce || operation == Operation::reduce_scatter;
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
                 const AlgorithmChoices& choices, CallSize size) {
  if (!choices.mistake.empty()) return {.algorithm = asked, .mistake = choices.mistake};
  const auto possible = algorithms_of(operation);
  if (possible.empty()) return {.algorithm = asked, .mistake = "has no algorithms to choose from"};

  const Algorithm chosen = choices.by_operation[static_cast<std::size_t>(operation)];
  const bool from_environment = asked == Algorithm::automatic && chosen != Algorithm::automatic;
  Selection selection{.algorithm = from_environment ? chosen : asked, .mistake = {}};
  if (selection.algorithm == Algorithm::automatic) selection.algorithm = default_algorithm(operation, reduction, size);

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

void select_algorithm(Communicator& comm, Call& call, const Options& options) {
  call.algorithm = options.algorithm;
  const auto reduction =
      reduces(call.operation) ? std::optional(Reduction{.op = call.reduce_op, .type = call.type}) : std::nullopt;
  const CallSize size{
      .bytes = call.count * element_bytes(call.type), .ranks = comm.size(), .element_bytes = element_bytes(call.type)};
  Selection selection = select(call.operation, options.algorithm, reduction, environment_choices(), size);
  if (!selection.mistake.empty()) comm.refuse(call, selection.mistake);
  call.algorithm = selection.algorithm;
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

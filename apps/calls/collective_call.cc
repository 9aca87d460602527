#include "calls/collective_call.h"

#include "program/program.h"

namespace shoal::calls {

bool has_in_place_form(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::reduce_scatter ||
         operation == Operation::all_gather;
}

BufferSizes buffer_sizes(const CollectiveCall& call, int ranks, int rank) {
  const std::uint64_t whole = call.count;
  const std::uint64_t own = Partition(whole, ranks).size(rank);
  const std::uint64_t at_root = rank == 0 ? whole : 0;
  switch (call.operation) {
    case Operation::broadcast:
      return {.in = whole, .out = 0};
    case Operation::reduce:
      return {.in = whole, .out = at_root};
    case Operation::all_reduce:
      return {.in = whole, .out = call.in_place ? 0 : whole};
    case Operation::reduce_scatter:
      return {.in = whole, .out = call.in_place ? 0 : own};
    case Operation::all_gather:
      return {.in = call.in_place ? 0 : own, .out = whole};
    case Operation::gather:
      return {.in = own, .out = at_root};
    case Operation::scatter:
    case Operation::scatter_cyclic:
      return {.in = at_root, .out = own};
    case Operation::all_to_all:
      return {.in = whole, .out = own * static_cast<std::uint64_t>(ranks)};
    default:
      return {};
  }
}

Cost predicted_cost(const CollectiveCall& call, int ranks, int rank) {
  return cost({.operation = call.operation,
               .algorithm = call.algorithm,
               .count = call.count,
               .type = call.type,
               .ranks = ranks,
               .rank = rank,
               .root = 0,
               .reduce_op = call.reduce_op});
}

Algorithm algorithm_option(const std::string& text) {
  const auto algorithm = algorithm_named(text);
  if (!algorithm) throw UsageError("--algorithm " + text + ": no such algorithm");
  return *algorithm;
}

void refuse_impossible(const CollectiveCall& call, int ranks) {
  try {
    predicted_cost(call, ranks, 0);
  } catch (const Error& error) {
    throw UsageError("--algorithm " + std::string(name(call.algorithm)) + ": " + error.what());
  }
}

Algorithm algorithm_in(const Traffic& traffic, Operation operation) {
  const std::string row = std::string(name(operation)) + ':';
  const auto found = traffic.by_algorithm.lower_bound(row);
  if (found == traffic.by_algorithm.end() || !found->first.starts_with(row))
    throw Error(ErrorCode::invalid_argument, "no call of " + std::string(name(operation)) + " in this ledger");
  return *algorithm_named(std::string_view(found->first).substr(row.size()));
}

}  // namespace shoal::calls

// Questions about costs: which are answered, and by which algorithm's closed form.

#include "shoal/collectives/cost.h"

#include "closed_form.h"
#include "selection.h"
#include "shoal/runtime/error.h"

namespace shoal {
namespace detail {
namespace {

bool has_root(Operation operation) {
  return operation == Operation::broadcast || operation == Operation::reduce || operation == Operation::gather ||
         operation == Operation::scatter || operation == Operation::scatter_cyclic;
}

}  // namespace

std::uint32_t steps_of(const Call& call, std::uint64_t count, int ranks, int rank) {
  return static_cast<std::uint32_t>(closed_form({.operation = call.operation,
                                                 .algorithm = call.algorithm,
                                                 .count = count,
                                                 .type = call.type,
                                                 .ranks = ranks,
                                                 .rank = rank,
                                                 .root = call.root})
                                        .steps);
}

}  // namespace detail

Cost cost(const CostQuery& query) {
  const auto check_rank = [&](std::string_view what, int rank) {
    if (rank < 0 || rank >= query.ranks)
      throw Error(ErrorCode::invalid_argument, "cost: " + std::string(what) + ' ' + std::to_string(rank) +
                                                   " is not one of " + std::to_string(query.ranks) + " ranks");
  };
  check_rank("rank", query.rank);
  if (detail::has_root(query.operation)) check_rank("root", query.root);

  CostQuery resolved = query;
  if (!detail::algorithms_of(query.operation).empty()) {
    const auto reduction = reduces(query.operation)
                               ? std::optional(detail::Reduction{.op = query.reduce_op, .type = query.type})
                               : std::nullopt;
    const detail::CallSize size{
        .bytes = query.count * element_bytes(query.type), .ranks = query.ranks, .type = query.type};
    const detail::Selection selection = detail::select(query.operation, query.algorithm, reduction,
                                                       detail::environment_choices(), size, query.calibration);
    if (!selection.mistake.empty())
      throw Error(ErrorCode::invalid_argument,
                  "cost: " + std::string(name(query.operation)) + ": " + selection.mistake);
    resolved.algorithm = selection.algorithm;
  }
  return detail::closed_form(resolved);
}

}  // namespace shoal

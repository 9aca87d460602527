// The closed form of what each algorithm moves. S is the whole vector in bytes, own, left and right the chunks of
// this rank and its neighbours; docs/algorithms.md derives them.

#include "shoal/collectives/cost.h"

#include <bit>

#include "algorithms.h"
#include "closed_form.h"
#include "selection.h"
#include "shoal/collectives/partition.h"
#include "shoal/runtime/error.h"

namespace shoal {
namespace detail {
namespace {

/// Sizes in bytes of the chunks of the query's vector.
class ChunkBytes {
 public:
  explicit ChunkBytes(const CostQuery& query)
      : partition_(query.count, query.ranks), element_bytes_(element_bytes(query.type)) {}

  std::uint64_t whole() const { return partition_.elements() * element_bytes_; }
  std::uint64_t of(int rank) const { return partition_.size(rank) * element_bytes_; }
  std::uint64_t all_but(int rank) const { return whole() - of(rank); }
  std::uint64_t largest() const { return of(0); }

 private:
  Partition partition_;
  std::uint64_t element_bytes_;
};

std::uint64_t others(const CostQuery& query) { return static_cast<std::uint64_t>(query.ranks - 1); }

Cost barrier_dissemination_cost(const CostQuery& query) {
  return {.steps = static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(query.ranks - 1)))};
}

Cost broadcast_binomial_cost(const CostQuery& query) {
  const std::uint64_t bytes = query.count * element_bytes(query.type);
  const auto ranks = static_cast<unsigned>(query.ranks);
  const auto place = static_cast<unsigned>((query.rank - query.root + query.ranks) % query.ranks);
  // Receivers: place + d for each power of two d above place with place + d < ranks.
  const auto up_to = [](unsigned value) { return static_cast<int>(std::bit_width(value)); };  // Powers of two.
  const int children = up_to(ranks - 1 - place) - up_to(place);
  const std::uint64_t sends = children > 0 ? static_cast<std::uint64_t>(children) : 0;
  const std::uint64_t receives = place == 0 ? 0 : 1;
  return {.sent = sends * bytes, .received = receives * bytes, .steps = sends + receives};
}

Cost rooted_linear_cost(const CostQuery& query, bool to_root) {
  const ChunkBytes chunks(query);
  const bool at_root = query.rank == query.root;
  const std::uint64_t bytes = at_root ? chunks.all_but(query.root) : chunks.of(query.rank);
  const std::uint64_t steps = at_root ? others(query) : 1;
  return at_root == to_root ? Cost{.received = bytes, .steps = steps} : Cost{.sent = bytes, .steps = steps};
}

Cost all_gather_ring_cost(const CostQuery& query) {
  const ChunkBytes chunks(query);
  const int right = (query.rank + 1) % query.ranks;
  return {.sent = chunks.all_but(right), .received = chunks.all_but(query.rank), .steps = others(query)};
}

/// Pairwise sends each chunk but the own; the ring sends them too, as partial sums. Pairwise receives P-1 parts of the
/// own chunk; the ring a partial sum of each chunk but the left neighbour's.
Cost reduce_scatter_cost(const CostQuery& query) {
  const ChunkBytes chunks(query);
  const std::uint64_t sent = chunks.all_but(query.rank);
  if (query.algorithm == Algorithm::ring) {
    const int left = (query.rank + query.ranks - 1) % query.ranks;
    return {.sent = sent, .received = chunks.all_but(left), .steps = others(query)};
  }
  return {.sent = sent,
          .received = others(query) * chunks.of(query.rank),
          .steps = others(query) * pairwise_rounds(chunks.largest())};
}

Cost all_to_all_pairwise_cost(const CostQuery& query) {
  const ChunkBytes chunks(query);
  return {
      .sent = chunks.all_but(query.rank), .received = others(query) * chunks.of(query.rank), .steps = others(query)};
}

bool has_root(Operation operation) {
  return operation == Operation::broadcast || operation == Operation::reduce || operation == Operation::gather ||
         operation == Operation::scatter || operation == Operation::scatter_cyclic;
}

}  // namespace

Cost closed_form(const CostQuery& query) {
  const std::uint64_t bytes = query.count * element_bytes(query.type);
  Cost cost;
  switch (query.operation) {
    case Operation::barrier:
      return barrier_dissemination_cost(query);
    case Operation::broadcast:
      return broadcast_binomial_cost(query);
    case Operation::reduce:
      cost = reduce_scatter_cost(query);
      return cost += rooted_linear_cost(query, true);
    case Operation::all_reduce:
      cost = reduce_scatter_cost(query);
      return cost += all_gather_ring_cost(query);
    case Operation::reduce_scatter:
      return reduce_scatter_cost(query);
    case Operation::all_gather:
      return all_gather_ring_cost(query);
    case Operation::gather:
      return rooted_linear_cost(query, true);
    case Operation::scatter:
    case Operation::scatter_cyclic:
      return rooted_linear_cost(query, false);
    case Operation::all_to_all:
      return all_to_all_pairwise_cost(query);
    case Operation::send:
      return {.sent = bytes, .steps = 1};
    case Operation::recv:
      return {.received = bytes, .steps = 1};
    case Operation::exchange:
      return {.sent = bytes, .received = bytes, .steps = 1};
    case Operation::all_gather_v:
    case Operation::gather_v:
    case Operation::scatter_v:
    case Operation::all_to_all_v:
    case Operation::split:
      break;
  }
  throw Error(ErrorCode::invalid_argument,
              "cost: " + std::string(name(query.operation)) + " has no closed form: its bytes depend on its lengths");
}

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
    const detail::Selection selection =
        detail::select(query.operation, query.algorithm, std::nullopt, detail::environment_choices());
    if (!selection.mistake.empty())
      throw Error(ErrorCode::invalid_argument,
                  "cost: " + std::string(name(query.operation)) + ": " + selection.mistake);
    resolved.algorithm = selection.algorithm;
  }
  return detail::closed_form(resolved);
}

}  // namespace shoal

// The closed form of the v-operations, from their lists of lengths. Each chunk crosses once, except in all_gather_v,
// where it passes every rank; only the own chunk stays.

#include <numeric>

#include "selection.h"
#include "shoal/collectives/cost.h"
#include "shoal/runtime/error.h"

namespace shoal {
namespace {

[[noreturn]] void refuse(const CostQuery& query, const std::string& mistake) {
  throw Error(ErrorCode::invalid_argument, "cost: " + std::string(name(query.operation)) + ": " + mistake);
}

/// One list, in bytes.
class Lengths {
 public:
  Lengths(const CostQuery& query, std::string_view argument, std::span<const std::size_t> counts)
      : counts_(counts), element_bytes_(element_bytes(query.type)) {
    if (counts.size() != static_cast<std::size_t>(query.ranks))
      refuse(query, std::string(argument) + " has " + std::to_string(counts.size()) + " entries, not " +
                        std::to_string(query.ranks) + ": one for each rank");
  }

  std::uint64_t of(int rank) const { return counts_[static_cast<std::size_t>(rank)] * element_bytes_; }
  std::uint64_t all_but(int rank) const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}) * element_bytes_ - of(rank);
  }

 private:
  std::span<const std::size_t> counts_;
  std::uint64_t element_bytes_;
};

std::uint64_t others(const CostQuery& query) { return static_cast<std::uint64_t>(query.ranks - 1); }

void check(const CostQuery& query) {
  const auto check_rank = [&](std::string_view what, int rank) {
    if (rank < 0 || rank >= query.ranks)
      refuse(query, std::string(what) + ' ' + std::to_string(rank) + " is not one of " + std::to_string(query.ranks) +
                        " ranks");
  };
  check_rank("rank", query.rank);
  if (query.operation == Operation::gather_v || query.operation == Operation::scatter_v) check_rank("root", query.root);
  const auto selection = detail::select(query.operation, query.algorithm, std::nullopt, detail::environment_choices());
  if (!selection.mistake.empty()) refuse(query, selection.mistake);
}

}  // namespace

Cost cost(const CostQuery& query, std::span<const std::size_t> counts) {
  if (query.operation != Operation::all_gather_v && query.operation != Operation::gather_v &&
      query.operation != Operation::scatter_v)
    refuse(query, "takes no single list of counts");
  check(query);
  const Lengths lengths(query, "counts", counts);
  if (query.operation == Operation::all_gather_v)
    return {.sent = lengths.all_but((query.rank + 1) % query.ranks),
            .received = lengths.all_but(query.rank),
            .steps = others(query),
            .messages = others(query)};

  const bool at_root = query.rank == query.root;
  const std::uint64_t bytes = at_root ? lengths.all_but(query.root) : lengths.of(query.rank);
  const std::uint64_t steps = at_root ? others(query) : 1;
  return at_root == (query.operation == Operation::gather_v) ? Cost{.received = bytes, .steps = steps}
                                                             : Cost{.sent = bytes, .steps = steps, .messages = steps};
}

Cost cost(const CostQuery& query, std::span<const std::size_t> send_counts,
          std::span<const std::size_t> receive_counts) {
  if (query.operation != Operation::all_to_all_v) refuse(query, "takes no lists of what is sent and received");
  check(query);
  return {.sent = Lengths(query, "send_counts", send_counts).all_but(query.rank),
          .received = Lengths(query, "receive_counts", receive_counts).all_but(query.rank),
          .steps = others(query),
          .messages = others(query)};
}

}  // namespace shoal

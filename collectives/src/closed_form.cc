// The closed form of what each algorithm moves; docs/algorithms.md derives them. Where an algorithm halves or doubles
// the form is a sum over its log2 P levels.

#include "closed_form.h"

#include <algorithm>
#include <bit>

#include "algorithms.h"
#include "core.h"
#include "notices.h"
#include "paired_core.h"
#include "shoal/collectives/partition.h"
#include "shoal/runtime/error.h"
#include "subtree.h"

namespace shoal::detail {
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
  /// Of chunks begin .. end-1.
  std::uint64_t between(int begin, int end) const {
    return (partition_.begin(end) - partition_.begin(begin)) * element_bytes_;
  }
  /// Of `count` chunks from `begin` on, modulo P.
  std::uint64_t around(int begin, int count) const {
    const int ranks = partition_.parts();
    begin %= ranks;
    return begin + count <= ranks ? between(begin, begin + count)
                                  : between(begin, ranks) + between(0, begin + count - ranks);
  }

 private:
  Partition partition_;
  std::uint64_t element_bytes_;
};

std::uint64_t bytes_of(const CostQuery& query) { return query.count * element_bytes(query.type); }
std::uint64_t others(const CostQuery& query) { return static_cast<std::uint64_t>(query.ranks - 1); }

Cost sending(std::uint64_t bytes, std::uint64_t messages = 1) {
  return {.sent = bytes, .steps = messages, .messages = messages};
}
Cost receiving(std::uint64_t bytes, std::uint64_t messages = 1) { return {.received = bytes, .steps = messages}; }
Cost exchanging(std::uint64_t sent, std::uint64_t received, std::uint64_t steps = 1) {
  return {.sent = sent, .received = received, .steps = steps, .messages = steps};
}

/// One round of arrivals, of which others read `sent` bytes, all together.
Cost arriving(const CostQuery& query, std::uint64_t sent, std::uint64_t received) {
  if (query.ranks == 1) return {};
  return {.sent = sent, .received = received, .steps = 1, .messages = others(query)};
}

/// Rounds in which ranks show others what these read, or write for them.
Cost showing(const CostQuery& query, std::uint64_t rounds, std::uint64_t sent, std::uint64_t received) {
  if (query.ranks == 1) return {};
  return {.sent = sent, .received = received, .steps = rounds, .messages = rounds * others(query)};
}
bool ranks_share_cores(const CostQuery& query) {
  return static_cast<std::uint32_t>(query.ranks) > query.calibration.cores;
}
std::uint64_t vector_rounds(const CostQuery& query, std::uint64_t bytes) {
  return blocks_in(bytes, vector_block_bytes(kStagingBytes, ranks_share_cores(query)));
}
std::uint64_t chunk_rounds(const CostQuery& query) {
  return blocks_in(ChunkBytes(query).largest(), chunk_block_bytes(kStagingBytes, query.ranks));
}

Cost barrier_dissemination(const CostQuery& query) {
  return exchanging(0, 0, static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(query.ranks - 1))));
}

Cost barrier(const CostQuery& query) {
  return query.algorithm == Algorithm::tiny ? arriving(query, 0, 0) : barrier_dissemination(query);
}

Cost broadcast_binomial(const CostQuery& query) {
  const std::uint64_t bytes = bytes_of(query);
  const auto ranks = static_cast<unsigned>(query.ranks);
  const auto place = static_cast<unsigned>((query.rank - query.root + query.ranks) % query.ranks);
  // Receivers: place + d for each power of two d above place with place + d < ranks.
  const auto up_to = [](unsigned value) { return static_cast<int>(std::bit_width(value)); };  // Powers of two.
  const int children = up_to(ranks - 1 - place) - up_to(place);
  const auto sends = static_cast<std::uint64_t>(children > 0 ? children : 0);
  Cost cost = sending(sends * bytes, sends);
  if (place != 0) cost += receiving(bytes);
  return cost;
}

Cost broadcast_pipelined(const CostQuery& query) {
  if (query.ranks == 1) return {};
  const std::uint64_t bytes = bytes_of(query);
  const std::uint64_t blocks = blocks_in(bytes, kBroadcastBlockBytes);
  const int place = (query.rank - query.root + query.ranks) % query.ranks;
  if (place == 0) return sending(bytes, blocks);
  if (place + 1 == query.ranks) return receiving(bytes, blocks);
  return {.sent = bytes, .received = bytes, .steps = blocks + 1, .messages = blocks};
}

Cost broadcast_direct(const CostQuery& query) {
  const std::uint64_t bytes = bytes_of(query);
  const bool at_root = query.rank == query.root;
  return showing(query, vector_rounds(query, bytes), at_root ? others(query) * bytes : 0, at_root ? 0 : bytes);
}

Cost broadcast(const CostQuery& query) {
  if (query.algorithm == Algorithm::direct) return broadcast_direct(query);
  return query.algorithm == Algorithm::pipelined ? broadcast_pipelined(query) : broadcast_binomial(query);
}

Cost gather_linear(const CostQuery& query) {
  const ChunkBytes chunks(query);
  return query.rank == query.root ? receiving(chunks.all_but(query.root), others(query))
                                  : sending(chunks.of(query.rank));
}

Cost gather(const CostQuery& query) {
  if (query.algorithm == Algorithm::linear) return gather_linear(query);
  const ChunkBytes chunks(query);
  const Subtree tree(query.ranks, query.rank, query.root);
  const std::uint64_t joined = chunks.around(query.rank, tree.width());
  Cost cost = receiving(joined - chunks.of(query.rank), static_cast<std::uint64_t>(tree.children()));
  if (query.rank != query.root) cost += sending(joined);
  return cost;
}

/// A gather with its messages turned round.
Cost scatter(const CostQuery& query) {
  const Cost gathering = gather(query);
  return {.sent = gathering.received,
          .received = gathering.sent,
          .steps = gathering.steps,
          .messages = gathering.steps - gathering.messages};
}

Cost all_gather_ring(const CostQuery& query) {
  const ChunkBytes chunks(query);
  return exchanging(chunks.all_but((query.rank + 1) % query.ranks), chunks.all_but(query.rank), others(query));
}

Cost all_gather_recursive_doubling(const CostQuery& query) {
  const ChunkBytes chunks(query);
  const PairedCore core(query.ranks);
  Cost cost;
  if (core.stands_behind(query.rank)) {
    cost += sending(chunks.of(query.rank));
    return cost += receiving(chunks.whole());
  }
  const auto of_members = [&](int first, int count) {
    return chunks.between(core.first_rank(first), core.first_rank(first + count));
  };
  const int member = core.member_of(query.rank);
  for (int distance = 1; distance < core.size(); distance *= 2) {
    const int first = member & ~(distance - 1);
    cost += exchanging(of_members(first, distance), of_members(first ^ distance, distance));
  }
  if (core.in_pair(query.rank)) {
    cost += receiving(chunks.of(query.rank + 1));
    cost += sending(chunks.whole());
  }
  return cost;
}

Cost all_gather_bruck(const CostQuery& query) {
  const ChunkBytes chunks(query);
  Cost cost;
  for (int distance = 1; distance < query.ranks; distance *= 2) {
    const int count = std::min(distance, query.ranks - distance);
    cost += exchanging(chunks.around(query.rank, count), chunks.around(query.rank + distance, count));
  }
  return cost;
}

Cost all_gather_tiny(const CostQuery& query) {
  const ChunkBytes chunks(query);
  return arriving(query, others(query) * chunks.of(query.rank), chunks.all_but(query.rank));
}

Cost all_gather_shown(const CostQuery& query) {
  const ChunkBytes chunks(query);
  return showing(query, vector_rounds(query, chunks.largest()), others(query) * chunks.of(query.rank),
                 chunks.all_but(query.rank));
}

Cost all_gather(const CostQuery& query) {
  if (shows(query.algorithm)) return all_gather_shown(query);
  if (query.algorithm == Algorithm::tiny) return all_gather_tiny(query);
  if (query.algorithm == Algorithm::recursive_doubling) return all_gather_recursive_doubling(query);
  return query.algorithm == Algorithm::bruck ? all_gather_bruck(query) : all_gather_ring(query);
}

Cost reduce_scatter_pairwise(const CostQuery& query) {
  const ChunkBytes chunks(query);
  return exchanging(chunks.all_but(query.rank), others(query) * chunks.of(query.rank),
                    others(query) * blocks_in(chunks.largest(), kPairwiseBlockBytes));
}

/// Partial sums of each chunk: all but the own leave, all but the left neighbour's arrive.
Cost reduce_scatter_ring(const CostQuery& query) {
  const ChunkBytes chunks(query);
  const int left = (query.rank + query.ranks - 1) % query.ranks;
  return exchanging(chunks.all_but(query.rank), chunks.all_but(left), others(query));
}

Cost reduce_scatter_recursive_halving(const CostQuery& query) {
  const ChunkBytes chunks(query);
  const Core core(query.ranks);
  Cost cost;
  if (!core.holds(query.rank)) {
    cost += sending(chunks.whole());
    return cost += receiving(chunks.of(query.rank));
  }
  /// Block q is the chunk of q and that of the outer rank behind it.
  const auto of_blocks = [&](int first, int count) {
    const auto clipped = [&](int rank) { return std::min(rank + core.size(), query.ranks); };
    return chunks.between(first, first + count) + chunks.between(clipped(first), clipped(first + count));
  };
  for (int distance = core.size() / 2; distance >= 1; distance /= 2) {
    const int kept = query.rank & ~(distance - 1);
    cost += exchanging(of_blocks(kept ^ distance, distance), of_blocks(kept, distance));
  }
  if (core.has_outer(query.rank)) {
    cost += receiving(chunks.whole());
    cost += sending(chunks.of(core.outer_of(query.rank)));
  }
  return cost;
}

/// What rank r reads of the line of each other rank is chunk r.
Cost chunks_tiny(const CostQuery& query) {
  const ChunkBytes chunks(query);
  return arriving(query, chunks.all_but(query.rank), others(query) * chunks.of(query.rank));
}

/// Every rank reads chunk r of all others, r being its own.
Cost chunks_shown(const CostQuery& query) {
  const ChunkBytes chunks(query);
  return showing(query, chunk_rounds(query), chunks.all_but(query.rank), others(query) * chunks.of(query.rank));
}

Cost reduce_scatter(const CostQuery& query) {
  if (shows(query.algorithm)) return chunks_shown(query);
  if (query.algorithm == Algorithm::tiny) return chunks_tiny(query);
  if (query.algorithm == Algorithm::ring) return reduce_scatter_ring(query);
  return query.algorithm == Algorithm::recursive_halving ? reduce_scatter_recursive_halving(query)
                                                         : reduce_scatter_pairwise(query);
}

Cost reduce_binomial(const CostQuery& query) {
  const std::uint64_t bytes = bytes_of(query);
  const Core core(query.ranks);
  const auto inner = [&](int rank) { return core.holds(rank) ? rank : core.inner_of(rank); };
  const int number = inner(query.rank);
  const int actor = number == inner(query.root) ? query.root : number;
  if (query.rank != actor) return sending(bytes);
  // One from each level above the one in which it sends, and one from the rank that it acts for.
  const int place = number ^ inner(query.root);
  const int levels =
      core.levels() - static_cast<int>(std::bit_width(static_cast<unsigned>(place))) + (core.has_outer(number) ? 1 : 0);
  Cost cost = receiving(static_cast<std::uint64_t>(levels) * bytes, static_cast<std::uint64_t>(levels));
  if (place != 0) cost += sending(bytes);
  return cost;
}

Cost reduce_direct(const CostQuery& query) {
  const ChunkBytes chunks(query);
  const bool at_root = query.rank == query.root;
  return showing(query, chunk_rounds(query) + 1, chunks.all_but(query.rank) + (at_root ? 0 : chunks.of(query.rank)),
                 others(query) * chunks.of(query.rank) + (at_root ? chunks.all_but(query.rank) : 0));
}

Cost reduce(const CostQuery& query) {
  if (query.algorithm == Algorithm::direct) return reduce_direct(query);
  if (query.algorithm == Algorithm::binomial) return reduce_binomial(query);
  Cost cost = reduce_scatter(query);
  return cost += gather_linear(query);
}

Cost all_reduce_recursive_doubling(const CostQuery& query) {
  const std::uint64_t bytes = bytes_of(query);
  const Core core(query.ranks);
  const auto levels = static_cast<std::uint64_t>(core.levels());
  Cost cost;
  if (core.holds(query.rank)) cost = exchanging(levels * bytes, levels * bytes, levels);
  if (!core.holds(query.rank) || core.has_outer(query.rank)) {
    cost += sending(bytes);
    cost += receiving(bytes);
  }
  return cost;
}

Cost all_reduce_direct(const CostQuery& query) {
  const ChunkBytes chunks(query);
  const std::uint64_t of_own = others(query) * chunks.of(query.rank);
  return showing(query, chunk_rounds(query) + 1, chunks.all_but(query.rank) + of_own,
                 of_own + chunks.all_but(query.rank));
}

Cost all_reduce(CostQuery query) {
  query.root = 0;
  Cost cost;
  switch (query.algorithm) {
    case Algorithm::tiny:
      return arriving(query, others(query) * bytes_of(query), others(query) * bytes_of(query));
    case Algorithm::slots:
      return showing(query, blocks_in(bytes_of(query), kStagingBytes), others(query) * bytes_of(query),
                     others(query) * bytes_of(query));
    case Algorithm::direct:
      return all_reduce_direct(query);
    case Algorithm::recursive_doubling:
      return all_reduce_recursive_doubling(query);
    case Algorithm::binomial:
      cost = reduce_binomial(query);
      return cost += broadcast_binomial(query);
    case Algorithm::recursive_halving:
      cost = reduce_scatter_recursive_halving(query);
      return cost += all_gather_recursive_doubling(query);
    default:
      cost = reduce_scatter(query);
      return cost += all_gather_ring(query);
  }
}

Cost all_to_all_pairwise(const CostQuery& query) {
  const ChunkBytes chunks(query);
  return exchanging(chunks.all_but(query.rank), others(query) * chunks.of(query.rank), others(query));
}

}  // namespace

Cost closed_form(const CostQuery& query) {
  switch (query.operation) {
    case Operation::barrier:
      return barrier(query);
    case Operation::broadcast:
      return broadcast(query);
    case Operation::reduce:
      return reduce(query);
    case Operation::all_reduce:
      return all_reduce(query);
    case Operation::reduce_scatter:
      return reduce_scatter(query);
    case Operation::all_gather:
      return all_gather(query);
    case Operation::gather:
      return gather(query);
    case Operation::scatter:
    case Operation::scatter_cyclic:
      return scatter(query);
    case Operation::all_to_all:
      if (shows(query.algorithm)) return chunks_shown(query);
      return query.algorithm == Algorithm::tiny ? chunks_tiny(query) : all_to_all_pairwise(query);
    case Operation::send:
      return sending(bytes_of(query));
    case Operation::recv:
      return receiving(bytes_of(query));
    case Operation::exchange:
      return exchanging(bytes_of(query), bytes_of(query));
    default:
      break;
  }
  throw Error(ErrorCode::invalid_argument,
              "cost: " + std::string(name(query.operation)) + " has no closed form: its bytes depend on its lengths");
}

}  // namespace shoal::detail

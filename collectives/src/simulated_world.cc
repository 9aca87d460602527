// Each call is one simulated world that lives for that call: its ranks take their array from the list that is given and
// leave their result in the list that is returned. The algorithms are named, not left to the selection, because what
// they send is part of what is promised.

#include <algorithm>
#include <numeric>

#include "shoal/shoal.h"
#include "shoal/simulation.h"

namespace shoal {
namespace {

Error mistake(const std::string& text) { return {ErrorCode::invalid_argument, "SimulatedWorld: " + text}; }

void check_number(const std::string& operation, const SimulatedWorld::Arrays& arrays, int world) {
  if (arrays.size() != static_cast<std::size_t>(world))
    throw mistake(operation + ": " + std::to_string(arrays.size()) + " arrays for " + std::to_string(world) +
                  " ranks: each rank has one");
}

void check_equal_lengths(const std::string& operation, const SimulatedWorld::Arrays& shards) {
  for (std::size_t rank = 1; rank < shards.size(); ++rank)
    if (shards[rank].size() != shards[0].size())
      throw mistake(operation + ": the array of rank " + std::to_string(rank) + " has " +
                    std::to_string(shards[rank].size()) + " elements, that of rank 0 " +
                    std::to_string(shards[0].size()));
}

void check_chunks(const std::string& operation, const SimulatedWorld::Arrays& parts, const Partition& chunks) {
  for (int rank = 0; rank < chunks.parts(); ++rank) {
    const std::size_t elements = parts[static_cast<std::size_t>(rank)].size();
    if (elements != chunks.size(rank))
      throw mistake(operation + ": the part of rank " + std::to_string(rank) + " has " + std::to_string(elements) +
                    " elements, not " + std::to_string(chunks.size(rank)) + ", its chunk of the " +
                    std::to_string(chunks.elements()) + " of all parts");
  }
}

}  // namespace

SimulatedWorld::SimulatedWorld(int world) {
  if (world < 1) throw mistake("a world of " + std::to_string(world) + " ranks: it has at least 1");
  sent_.resize(static_cast<std::size_t>(world));
}

template <class Body>
void SimulatedWorld::run(Body&& body) {
  const SimulationResult result =
      simulate(world(), std::forward<Body>(body),
               {.schedule = SimulationOptions::Schedule::in_order, .channel_bytes = SimulationOptions::kUnbounded});
  for (const SimulatedRank& rank : result.ranks)
    if (!rank.error.empty()) throw Error(rank.error_code.value_or(ErrorCode::system), rank.error);
  for (std::size_t rank = 0; rank < sent_.size(); ++rank) {
    sent_[rank] += result.ranks[rank].traffic.sent;
    for (const auto& [operation, count] : result.ranks[rank].traffic.by_op) by_op_[operation] += count.sent;
  }
}

SimulatedWorld::Arrays SimulatedWorld::all_reduce_mean(const Arrays& shards) {
  check_number("all_reduce_mean", shards, world());
  check_equal_lengths("all_reduce_mean", shards);
  Arrays means = shards;
  run([&](Communicator& comm) {
    all_reduce(comm, means[static_cast<std::size_t>(comm.rank())], ReduceOp::mean, {.algorithm = Algorithm::pairwise});
  });
  return means;
}

SimulatedWorld::Arrays SimulatedWorld::reduce_scatter_mean(const Arrays& shards) {
  check_number("reduce_scatter_mean", shards, world());
  check_equal_lengths("reduce_scatter_mean", shards);
  const Partition chunks(shards[0].size(), world());
  Arrays parts(shards.size());
  run([&](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    parts[rank].resize(chunks.size(comm.rank()));
    reduce_scatter(comm, shards[rank], parts[rank], ReduceOp::mean, {.algorithm = Algorithm::pairwise});
  });
  return parts;
}

SimulatedWorld::Arrays SimulatedWorld::all_gather(const Arrays& parts) {
  check_number("all_gather", parts, world());
  const auto add_size = [](std::size_t sum, const std::vector<float>& part) { return sum + part.size(); };
  const Partition chunks(std::accumulate(parts.begin(), parts.end(), std::size_t{0}, add_size), world());
  check_chunks("all_gather", parts, chunks);
  Arrays wholes(parts.size());
  run([&](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    wholes[rank].resize(chunks.elements());
    shoal::all_gather(comm, parts[rank], wholes[rank], {.algorithm = Algorithm::ring});
  });
  return wholes;
}

std::uint64_t SimulatedWorld::sent(int rank) const {
  if (rank < 0 || rank >= world())
    throw mistake("sent: " + std::to_string(rank) + " is none of the " + std::to_string(world()) + " ranks");
  return sent_[static_cast<std::size_t>(rank)];
}

std::uint64_t SimulatedWorld::bytes_per_rank() const { return *std::ranges::max_element(sent_); }

void SimulatedWorld::reset() {
  std::ranges::fill(sent_, 0);
  by_op_.clear();
}

}  // namespace shoal

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "shoal/runtime/phantom_buffer.h"
#include "shoal/runtime/simulation.h"

namespace shoal {

/// Collectives over a list of per-rank arrays of float, in one process, every byte counted: the in-process communicator
/// of the seed (000_365317749df0cb96), with the real algorithms behind it. Each call takes one array per rank and
/// returns one array per rank; its ranks run as in simulate(). For tests, teaching, and programs that play a
/// whole world.
///
/// Means are formed in the canonical order (docs/algorithms.md), the sums divided once. A call sends what a ring
/// sends: a rank's array less the chunks of Partition that need not leave it, in exact bytes where P does not divide
/// the elements too. Throws Error `invalid_argument` that names the argument for arrays that do not fit.
class SimulatedWorld {
 public:
  using Arrays = std::vector<std::vector<float>>;

  explicit SimulatedWorld(int world);

  /// Every rank in with an array of the same length, every rank out with their mean.
  Arrays all_reduce_mean(const Arrays& shards);
  /// Every rank in with an array of the same length, rank r out with chunk r of their mean.
  Arrays reduce_scatter_mean(const Arrays& shards);
  /// Rank r in with chunk r of an array, every rank out with the whole.
  Arrays all_gather(const Arrays& parts);

  int world() const noexcept { return static_cast<int>(sent_.size()); }
  /// Bytes that `rank` has sent to others since the start or reset().
  std::uint64_t sent(int rank) const;
  /// The same over all ranks, by operation: "all_reduce", "reduce_scatter", "all_gather".
  std::map<std::string, std::uint64_t> by_op() const { return by_op_; }
  /// The most that any rank has sent.
  std::uint64_t bytes_per_rank() const;
  void reset();

 private:
  template <class Body>
  void run(Body&& body);

  std::vector<std::uint64_t> sent_;  // By rank.
  std::map<std::string, std::uint64_t> by_op_;
};

}  // namespace shoal

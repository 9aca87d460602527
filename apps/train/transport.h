#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "shoal/shoal.h"

namespace shoal::train {

/// Which algorithms carry gradients and parameters. Both defaults send the vector less the rank's own chunk (less
/// its neighbour's, for the gather) for each half, whatever its size, so the bytes are the textbook's; the pairwise
/// one adds along the canonical tree, so the bits are those of every world size.
struct GradientAlgorithms {
  Algorithm reduction = Algorithm::pairwise;  ///< Of all_reduce (stage 0) and reduce_scatter.
  Algorithm all_gather = Algorithm::ring;
};

/// The defaults with the named algorithm wherever it can do the operation. Throws UsageError where it can do
/// neither the reduction that this stage uses nor all_gather.
GradientAlgorithms choose_algorithms(Algorithm wanted, int stage);

/// The collective calls that training makes, and the time they take.
class Transport {
 public:
  Transport(Communicator& comm, GradientAlgorithms algorithms) : comm_(&comm), algorithms_(algorithms) {}

  int rank() const { return comm_->rank(); }
  int size() const { return comm_->size(); }
  Communicator& comm() { return *comm_; }

  /// Sums `data` over ranks; all get the sum.
  void all_reduce(std::span<float> data);
  /// Sums `data` over ranks; returns this rank's chunk of the sum, which lies in `data`.
  std::span<float> reduce_scatter(std::span<float> data);
  /// Completes `data` of every rank from the ranks' own chunks, which lie in place or in `own`.
  template <class T>
  void all_gather(std::span<T> data) {
    all_gather(std::span<const T>(Partition(data.size(), size()).slice(data, rank())), data);
  }
  template <class T>
  void all_gather(std::span<const T> own, std::span<T> data) {
    timed([&] { shoal::all_gather(*comm_, own, data, {.algorithm = algorithms_.all_gather}); });
  }
  /// Sums over ranks, element by element, along the canonical tree.
  template <class T, std::size_t N>
  std::array<T, N> sum(std::array<T, N> values) {
    timed([&] { shoal::all_reduce(*comm_, values, ReduceOp::sum); });
    return values;
  }
  /// The greatest of the ranks' values.
  std::int64_t max(std::int64_t value) {
    timed([&] { shoal::all_reduce(*comm_, std::span(&value, 1), ReduceOp::max); });
    return value;
  }

  /// Time spent in the calls so far.
  std::chrono::duration<double> time() const { return time_; }

 private:
  template <class Call>
  void timed(Call&& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    time_ += std::chrono::steady_clock::now() - start;
  }

  Communicator* comm_;
  GradientAlgorithms algorithms_;
  std::chrono::duration<double> time_{0};
};

}  // namespace shoal::train

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shoal/runtime/calibration.h"
#include "shoal/runtime/operation.h"

namespace shoal {

/// Which call, made by which rank.
struct CostQuery {
  Operation operation = Operation::all_reduce;
  /// `automatic`: what a call with automatic options would use in this process, in a job with that calibration.
  Algorithm algorithm = Algorithm::automatic;
  /// Elements of the whole vector: what all_gather and gather end with; what reduce_scatter, scatter and
  /// all_to_all start from; the message of send, recv and exchange. Not used by barrier.
  std::uint64_t count = 0;
  DataType type = DataType::f32;
  int ranks = 1;
  int rank = 0;
  int root = 0;  ///< Used by operations that have one.
  /// Used by those that reduce: not every algorithm can do every reduction.
  ReduceOp reduce_op = ReduceOp::sum;
  /// Of which `automatic` is a function, too: Communicator::calibration() gives a job's.
  Calibration calibration = kReferenceCalibration;
};

/// What one rank moves in one call: exactly what its ledger will show.
struct Cost {
  std::uint64_t sent = 0;      ///< Payload bytes.
  std::uint64_t received = 0;  ///< Payload bytes.
  std::uint64_t steps = 0;     ///< Transfers that this rank makes, one after the other.
  std::uint64_t messages = 0;  ///< Sent to other ranks.

  Cost& operator+=(const Cost& other) {
    sent += other.sent;
    received += other.received;
    steps += other.steps;
    messages += other.messages;
    return *this;
  }
  friend bool operator==(const Cost&, const Cost&) = default;
};

/// The closed form of a call's cost (docs/algorithms.md), exact for uneven chunks too. send, recv and exchange are
/// costed with another rank as the peer. Throws Error `invalid_argument` for a rank or root outside 0 .. ranks-1, for
/// an algorithm that cannot do the operation, and for the v-operations, whose bytes depend on their lengths.
Cost cost(const CostQuery& query);

/// The same for all_gather_v, gather_v and scatter_v, from their list of elements a rank; query.count is not used.
Cost cost(const CostQuery& query, std::span<const std::size_t> counts);
/// The same for all_to_all_v, from the lists of the rank itself: elements it sends to and receives from each rank.
Cost cost(const CostQuery& query, std::span<const std::size_t> send_counts,
          std::span<const std::size_t> receive_counts);

}  // namespace shoal

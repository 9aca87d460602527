#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace shoal {

/// What one row of the ledger holds: calls made, payload bytes that left this rank's memory for another rank,
/// and payload bytes that arrived from one. Headers, and copies to oneself, count nothing.
struct TrafficCount {
  std::uint64_t calls = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;

  TrafficCount& operator+=(const TrafficCount& other);
  /// Of an earlier reading of the same ledger.
  TrafficCount& operator-=(const TrafficCount& other);
  friend bool operator==(const TrafficCount&, const TrafficCount&) = default;
};

/// A reading of one rank's ledger. Two readings subtract to what moved between them:
/// `const Traffic before = comm.traffic(); ...; (comm.traffic() - before).sent`.
struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  /// By operation name ("all_reduce"); what an operation is composed of is charged to it, not to its parts.
  std::map<std::string, TrafficCount> by_op;
  /// By operation and algorithm ("all_reduce:ring").
  std::map<std::string, TrafficCount> by_algorithm;

  /// Rows that come out as all zero are dropped.
  friend Traffic operator-(const Traffic& later, const Traffic& earlier);
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

}  // namespace shoal

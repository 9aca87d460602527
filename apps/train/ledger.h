#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "shoal/runtime/operation.h"
#include "shoal/runtime/traffic.h"

namespace shoal::train {

/// Calls and bytes by operation, of one rank: as its ledger counted them or as the plan predicts them. Of a fixed
/// size, so that ranks can send it to each other.
struct OperationLedger {
  std::array<TrafficCount, kOperationCount> rows;

  TrafficCount& operator[](Operation operation) { return rows[static_cast<std::size_t>(operation)]; }
  const TrafficCount& operator[](Operation operation) const { return rows[static_cast<std::size_t>(operation)]; }
  OperationLedger& operator+=(const OperationLedger& other);
  TrafficCount total() const;
  friend bool operator==(const OperationLedger&, const OperationLedger&) = default;
};

/// The rows of a reading of the runtime's ledger.
OperationLedger by_operation(const Traffic& traffic);

}  // namespace shoal::train

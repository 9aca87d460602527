#include "train/ledger.h"

#include <stdexcept>

namespace shoal::train {

OperationLedger& OperationLedger::operator+=(const OperationLedger& other) {
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += other.rows[i];
  return *this;
}

TrafficCount OperationLedger::total() const {
  TrafficCount total;
  for (const TrafficCount& row : rows) total += row;
  return total;
}

OperationLedger by_operation(const Traffic& traffic) {
  OperationLedger ledger;
  for (const auto& [row, count] : traffic.by_op) {
    const auto operation = operation_named(row);
    if (!operation) throw std::logic_error("the ledger has a row of no known operation: " + row);
    ledger[*operation] += count;
  }
  return ledger;
}

}  // namespace shoal::train

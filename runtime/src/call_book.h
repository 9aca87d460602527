#pragma once

#include <cstdint>
#include <optional>

#include "layout.h"
#include "shoal/runtime/fabric.h"

namespace shoal::detail {

/// What a rank keeps of its calls where others can read it: the recorder's entries and the ledger's rows. One writer,
/// the rank; the readings below may be made by anyone at any time.
class CallBook {
 public:
  CallBook(RankState& state, Ledger& ledger);

  /// Enters a call; what moves from now on is charged to its row.
  void begin(const Call& call, std::uint64_t fingerprint) noexcept;
  void charge_sent(std::uint64_t bytes) noexcept;
  void charge_received(std::uint64_t bytes) noexcept;

 private:
  RankState* state_;
  Ledger* ledger_;
  LedgerRow* row_;
  std::uint64_t calls_begun_;
};

Traffic read_ledger(const Ledger& ledger);
/// Call `number` of the rank, counted from 1, while it is among its last ones.
std::optional<Call> read_call(const RankState& state, std::uint64_t number);
/// The latest call of that fingerprint among the rank's last ones.
std::optional<Call> find_call(const RankState& state, std::uint64_t fingerprint);

}  // namespace shoal::detail

#include "call_book.h"

#include <string>

namespace shoal::detail {
namespace {

// Counters have one writer, this rank, and readers that need no order.
void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

std::uint64_t packed_kinds(const Call& call) {
  return static_cast<std::uint64_t>(call.operation) | static_cast<std::uint64_t>(call.algorithm) << 8 |
         static_cast<std::uint64_t>(call.type) << 16 | static_cast<std::uint64_t>(call.reduce_op) << 24 |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.root)) << 32;
}

}  // namespace

CallBook::CallBook(RankState& state, Ledger& ledger)
    : state_(&state),
      ledger_(&ledger),
      row_(&ledger.rows[0][0]),
      calls_begun_(state.calls_begun.load(std::memory_order_relaxed)) {}

void CallBook::begin(const Call& call, std::uint64_t fingerprint) noexcept {
  CallRecord& record = state_->records[++calls_begun_ % kRecordCount];
  // A reader that sees a field of this call (release) also sees that the number it knew is gone.
  record.number.store(0, std::memory_order_relaxed);
  record.fingerprint.store(fingerprint, std::memory_order_release);
  record.count.store(call.count, std::memory_order_release);
  record.kinds.store(packed_kinds(call), std::memory_order_release);
  record.number.store(calls_begun_, std::memory_order_release);  // Pairs with the acquires in read_call.
  state_->calls_begun.store(calls_begun_, std::memory_order_release);
  row_ = &ledger_->rows[static_cast<std::size_t>(call.operation)][static_cast<std::size_t>(call.algorithm)];
  add(row_->calls, 1);
}

void CallBook::charge_sent(std::uint64_t bytes) noexcept { add(row_->sent, bytes); }
void CallBook::charge_received(std::uint64_t bytes) noexcept { add(row_->received, bytes); }

Traffic read_ledger(const Ledger& ledger) {
  Traffic traffic;
  for (std::size_t operation = 0; operation < kOperationCount; ++operation) {
    for (std::size_t algorithm = 0; algorithm < kAlgorithmCount; ++algorithm) {
      const LedgerRow& row = ledger.rows[operation][algorithm];
      // Relaxed: counters; each is exact, and nothing else is read by their order.
      const TrafficCount count{.calls = row.calls.load(std::memory_order_relaxed),
                               .sent = row.sent.load(std::memory_order_relaxed),
                               .received = row.received.load(std::memory_order_relaxed)};
      if (count == TrafficCount{}) {
        continue;
      }
      const std::string op(name(static_cast<Operation>(operation)));
      traffic.sent += count.sent;
      traffic.received += count.received;
      traffic.by_op[op] += count;
      traffic.by_algorithm[op + ":" + std::string(name(static_cast<Algorithm>(algorithm)))] += count;
    }
  }
  return traffic;
}

std::optional<Call> read_call(const RankState& state, std::uint64_t number) {
  const CallRecord& record = state.records[number % kRecordCount];
  // Pairs with the release in CallBook::begin; read again after, so that fields overwritten meanwhile are dropped.
  if (number == 0 || record.number.load(std::memory_order_acquire) != number) {
    return std::nullopt;
  }
  const std::uint64_t count = record.count.load(std::memory_order_acquire);
  const std::uint64_t kinds = record.kinds.load(std::memory_order_acquire);
  if (record.number.load(std::memory_order_acquire) != number) {
    return std::nullopt;
  }
  return Call{.operation = static_cast<Operation>(kinds & 0xff),
              .algorithm = static_cast<Algorithm>(kinds >> 8 & 0xff),
              .type = static_cast<DataType>(kinds >> 16 & 0xff),
              .reduce_op = static_cast<ReduceOp>(kinds >> 24 & 0xff),
              .root = static_cast<std::int32_t>(static_cast<std::uint32_t>(kinds >> 32)),
              .count = count};
}

std::optional<Call> find_call(const RankState& state, std::uint64_t fingerprint) {
  const std::uint64_t last = state.calls_begun.load(std::memory_order_acquire);
  for (std::uint64_t back = 0; back < kRecordCount && back < last; ++back) {
    const CallRecord& record = state.records[(last - back) % kRecordCount];
    if (record.fingerprint.load(std::memory_order_acquire) == fingerprint) {
      return read_call(state, last - back);
    }
  }
  return std::nullopt;
}

}  // namespace shoal::detail

#include "call_book.h"

#include <ctime>
#include <map>
#include <string>
#include <utility>

namespace shoal::detail {
namespace {

// Counters have one writer, this rank, and readers that need no order.
void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

constexpr std::uint64_t kFailed = 1;

// An even number: the lowest bit is free to tell a failure. The coarse clock costs a few nanoseconds, the exact one as
// much as a small call.
std::uint64_t coarse_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec)) & ~kFailed;
}

}  // namespace

std::uint64_t packed_kinds(const Call& call) {
  return static_cast<std::uint64_t>(call.operation) | static_cast<std::uint64_t>(call.algorithm) << 8 |
         static_cast<std::uint64_t>(call.type) << 16 | static_cast<std::uint64_t>(call.reduce_op) << 24 |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.root)) << 32;
}

CallBook::CallBook(RankState& state, Ledger& ledger)
    : state_(&state),
      ledger_(&ledger),
      row_(&ledger.rows[0][0]),
      calls_begun_(state.calls_begun.load(std::memory_order_relaxed)) {}

void CallBook::begin(const CallContext& context) noexcept {
  const Call& call = context.call;
  CallRecord& record = state_->records[++calls_begun_ % kRecordCount];
  // A reader that sees a field of this call (release) also sees that the number it knew is gone.
  record.number.store(0, std::memory_order_relaxed);
  record.fingerprint.store(context.fingerprint, std::memory_order_release);
  record.communicator.store(context.communicator, std::memory_order_release);
  record.sequence.store(context.sequence, std::memory_order_release);
  record.count.store(call.count, std::memory_order_release);
  record.kinds.store(packed_kinds(call), std::memory_order_release);
  record.begun.store(coarse_now(), std::memory_order_release);
  record.ended.store(0, std::memory_order_release);
  record.number.store(calls_begun_, std::memory_order_release);  // Pairs with the acquires in read_call.
  state_->calls_begun.store(calls_begun_, std::memory_order_release);
  row_ = &ledger_->rows[static_cast<std::size_t>(call.operation)][static_cast<std::size_t>(call.algorithm)];
  add(row_->calls, 1);
}

void CallBook::end(bool failed) noexcept {
  CallRecord& record = state_->records[calls_begun_ % kRecordCount];
  // An error may also be met between calls.
  if (record.ended.load(std::memory_order_relaxed) == 0)
    record.ended.store(coarse_now() | (failed ? kFailed : 0), std::memory_order_relaxed);
  state_->calls_returned.store(calls_begun_, std::memory_order_relaxed);  // Nothing but a text's tense depends on it.
}

void CallBook::met_error() noexcept {
  if (!read_gave_up(*state_, kMostRanks).met_error) note_gave_up(*state_, -1);
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

std::optional<RecordedCall> read_call(const RankState& state, std::uint64_t number) {
  const CallRecord& record = state.records[number % kRecordCount];
  // Pairs with the release in CallBook::begin; read again after, so that fields overwritten meanwhile are dropped.
  if (number == 0 || record.number.load(std::memory_order_acquire) != number) return std::nullopt;
  const std::uint64_t kinds = record.kinds.load(std::memory_order_acquire);
  const std::uint64_t ended = record.ended.load(std::memory_order_acquire);
  const RecordedCall recorded{.call = {.operation = static_cast<Operation>(kinds & 0xff),
                                       .algorithm = static_cast<Algorithm>(kinds >> 8 & 0xff),
                                       .type = static_cast<DataType>(kinds >> 16 & 0xff),
                                       .reduce_op = static_cast<ReduceOp>(kinds >> 24 & 0xff),
                                       .root = static_cast<std::int32_t>(static_cast<std::uint32_t>(kinds >> 32)),
                                       .count = record.count.load(std::memory_order_acquire)},
                              .fingerprint = record.fingerprint.load(std::memory_order_acquire),
                              .communicator = record.communicator.load(std::memory_order_acquire),
                              .sequence = record.sequence.load(std::memory_order_acquire),
                              .begun = std::chrono::nanoseconds(record.begun.load(std::memory_order_acquire)),
                              .ended = std::chrono::nanoseconds(ended & ~kFailed),
                              .failed = (ended & kFailed) != 0,
                              .returned = state.calls_returned.load(std::memory_order_relaxed) >= number ||
                                          state.calls_begun.load(std::memory_order_relaxed) > number};
  if (record.number.load(std::memory_order_acquire) != number) return std::nullopt;
  return recorded;
}

namespace {

// Visits the last calls of a rank, the latest first, until visit() returns false.
template <class Visit>
void visit_calls(const RankState& state, Visit&& visit) {
  const std::uint64_t last = state.calls_begun.load(std::memory_order_acquire);
  for (std::uint64_t back = 0; back < kRecordCount && back < last; ++back) {
    const auto recorded = read_call(state, last - back);
    if (recorded && !visit(*recorded)) return;
  }
}

}  // namespace

int awaited_by(const RankState& state, int world_size) {
  // Pairs with the release when it is set: in which call it waits was recorded before.
  const std::uint64_t peer = state.awaits.load(std::memory_order_acquire) & 0xffff'ffff;
  return peer <= static_cast<std::uint64_t>(world_size) ? static_cast<int>(peer) - 1 : -1;
}

void note_gave_up(RankState& state, int awaited) noexcept {
  const std::uint64_t calls = state.calls_begun.load(std::memory_order_relaxed);
  state.gave_up.store(calls << kAwaitedBits | (awaited < 0 ? kNobody : static_cast<std::uint64_t>(awaited) + 1),
                      std::memory_order_release);
}

GaveUp read_gave_up(const RankState& state, int world_size) {
  const std::uint64_t gave_up = state.gave_up.load(std::memory_order_acquire);
  const std::uint64_t peer = gave_up & kNobody;
  if (peer == 0 || gave_up >> kAwaitedBits != state.calls_begun.load(std::memory_order_relaxed)) return {};
  return {.met_error = true,
          .awaited = peer <= static_cast<std::uint64_t>(world_size) ? static_cast<int>(peer) - 1 : -1};
}

bool may_have_begun(const RankState& state, const RecordedCall& call) {
  std::optional<bool> begun;
  visit_calls(state, [&](const RecordedCall& recorded) {
    if (recorded.communicator != call.communicator || recorded.sequence == 0) return true;
    begun = recorded.sequence >= call.sequence;
    return false;
  });
  return begun.value_or(state.calls_begun.load(std::memory_order_acquire) >= kRecordCount);
}

std::optional<RecordedCall> find_sent(const RankState& state, std::uint64_t fingerprint,
                                      std::optional<std::uint64_t> bytes) {
  const auto sent_it = [&](const RecordedCall& recorded) {
    if (recorded.fingerprint != fingerprint) return false;
    if (recorded.sequence != 0) return true;
    const Call& call = recorded.call;
    return call.operation != Operation::recv && (!bytes || call.count * element_bytes(call.type) == *bytes);
  };
  std::optional<RecordedCall> found;
  visit_calls(state, [&](const RecordedCall& recorded) {
    if (sent_it(recorded)) found = recorded;
    return !found;
  });
  return found;
}

std::optional<RecordedCall> find_later(const RankState& state, const CallContext& context) {
  std::optional<RecordedCall> found;
  visit_calls(state, [&](const RecordedCall& recorded) {
    if (recorded.communicator != context.communicator || recorded.sequence == 0) return true;
    if (context.sequence != 0 && recorded.sequence > context.sequence) found = recorded;
    return false;
  });
  return found;
}

std::optional<CallMismatch> find_mismatch(int rank, int world_size, const CallContext& context,
                                          const StateOf& state_of) {
  if (context.sequence == 0) return std::nullopt;
  const int members = context.members.empty() ? world_size : static_cast<int>(context.members.size());
  std::optional<CallMismatch> mismatch;
  for (int member = 0; member < members && !mismatch; ++member) {
    const int peer = context.members.empty() ? member : context.members[static_cast<std::size_t>(member)];
    if (peer == rank) continue;
    visit_calls(state_of(peer), [&](const RecordedCall& theirs) {
      if (theirs.communicator != context.communicator || theirs.sequence == 0) return true;
      if (theirs.sequence == context.sequence && theirs.fingerprint != context.fingerprint) {
        mismatch = find_first_mismatch(state_of(rank), peer, state_of(peer), context.communicator)
                       .value_or(CallMismatch{.peer = peer,
                                              .ours = {.call = context.call,
                                                       .fingerprint = context.fingerprint,
                                                       .communicator = context.communicator,
                                                       .sequence = context.sequence},
                                              .theirs = theirs});
      }
      return theirs.sequence > context.sequence;  // Its earlier calls on this communicator are of no interest.
    });
  }
  return mismatch;
}

std::optional<CallMismatch> find_first_mismatch(const RankState& own, int peer, const RankState& theirs,
                                                std::uint64_t communicator) {
  std::map<std::uint64_t, RecordedCall> by_sequence;
  visit_calls(own, [&](const RecordedCall& ours) {
    if (ours.communicator == communicator && ours.sequence != 0) by_sequence.try_emplace(ours.sequence, ours);
    return true;
  });
  std::optional<CallMismatch> mismatch;
  visit_calls(theirs, [&](const RecordedCall& recorded) {  // The latest first: what is found last is the first.
    const auto ours = by_sequence.find(recorded.sequence);
    if (recorded.communicator == communicator && ours != by_sequence.end() &&
        ours->second.fingerprint != recorded.fingerprint)
      mismatch = CallMismatch{.peer = peer, .ours = ours->second, .theirs = recorded};
    return true;
  });
  return mismatch;
}

std::optional<CallMismatch> find_any_mismatch(int rank, int world_size, const StateOf& state_of) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, RecordedCall> own;
  visit_calls(state_of(rank), [&](const RecordedCall& recorded) {
    if (recorded.sequence != 0) own.try_emplace({recorded.communicator, recorded.sequence}, recorded);
    return true;
  });
  std::optional<CallMismatch> mismatch;
  for (int peer = 0; peer < world_size && !mismatch && !own.empty(); ++peer) {
    if (peer == rank) continue;
    visit_calls(state_of(peer), [&](const RecordedCall& theirs) {
      const auto ours = own.find({theirs.communicator, theirs.sequence});
      if (ours != own.end() && ours->second.fingerprint != theirs.fingerprint)
        mismatch = CallMismatch{.peer = peer, .ours = ours->second, .theirs = theirs};
      return true;  // The latest first: what is found last is the first.
    });
  }
  return mismatch;
}

}  // namespace shoal::detail

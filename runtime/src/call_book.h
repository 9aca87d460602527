#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "layout.h"
#include "shoal/runtime/fabric.h"

namespace shoal::detail {

/// A call but its count in one word: operation | algorithm << 8 | type << 16 | reduction << 24 | root << 32.
std::uint64_t packed_kinds(const Call& call);

/// What a rank keeps of its calls where others can read it: the recorder's entries and the ledger's rows. One writer,
/// the rank; the readings below may be made by anyone at any time.
class CallBook {
 public:
  CallBook(RankState& state, Ledger& ledger);

  /// Enters a call; what moves from now on is charged to its row.
  void begin(const CallContext& context) noexcept;
  /// The call has returned, or `failed`: thrown.
  void end(bool failed = false) noexcept;
  /// By an error that need not have ended a wait, and may have been met on the way into a call.
  void met_error() noexcept;
  void charge_sent(std::uint64_t bytes) noexcept;
  void charge_received(std::uint64_t bytes) noexcept;

 private:
  RankState* state_;
  Ledger* ledger_;
  LedgerRow* row_;
  std::uint64_t calls_begun_;
};

Traffic read_ledger(const Ledger& ledger);

/// A call as a rank recorded it.
struct RecordedCall {
  Call call;
  std::uint64_t fingerprint = 0;
  std::uint64_t communicator = 0;
  std::uint64_t sequence = 0;
  std::chrono::nanoseconds begun{0};  ///< By the system's monotonic clock, to some milliseconds.
  std::chrono::nanoseconds ended{0};  ///< 0: not yet.
  bool failed = false;                ///< Where it has ended.
  bool returned = false;              ///< Before it was read here.
};
/// Call `number` of the rank, counted from 1, while it is among its last ones.
std::optional<RecordedCall> read_call(const RankState& state, std::uint64_t number);
/// The world rank that a rank says it waits for; -1: none, or no rank of `world_size`.
int awaited_by(const RankState& state, int world_size);
/// By the rank itself: it meets an error, and waits no more for the world rank `awaited`; -1: for nobody.
void note_gave_up(RankState& state, int awaited) noexcept;
/// Whether it met one in its last call or since, and for whom it waited then: a world rank, or -1.
struct GaveUp {
  bool met_error = false;
  int awaited = -1;
};
GaveUp read_gave_up(const RankState& state, int world_size);
/// Whether the rank has begun that collective call, or one after it on the same communicator; true also where its
/// record does not go back far enough to tell.
bool may_have_begun(const RankState& state, const RecordedCall& call);
/// Of the rank's last calls the latest that sent a message of that fingerprint. Those of point-to-point messages do not
/// tell one call from another: there `bytes`, the message's size, does too.
std::optional<RecordedCall> find_sent(const RankState& state, std::uint64_t fingerprint,
                                      std::optional<std::uint64_t> bytes);

/// The latest collective call on the context's communicator that the rank has begun after the one with the context's
/// number, if it has; none for calls without a number.
std::optional<RecordedCall> find_later(const RankState& state, const CallContext& context);

/// The state of each world rank.
using StateOf = std::function<const RankState&(int)>;

/// Two calls with the same number on the same communicator, which do not fit together: as far as records go back, the
/// first of that communicator. (Later ones do not fit either: a fingerprint is that of all calls so far.)
struct CallMismatch {
  int peer = -1;  ///< World rank.
  RecordedCall ours;
  RecordedCall theirs;
};
/// Compares the collective call that world rank `rank` is in, and has recorded, with what the communicator's other
/// ranks have recorded.
std::optional<CallMismatch> find_mismatch(int rank, int world_size, const CallContext& context,
                                          const StateOf& state_of);
/// Compares what two ranks have recorded on one communicator: the first calls of the same number that differ.
std::optional<CallMismatch> find_first_mismatch(const RankState& own, int peer, const RankState& theirs,
                                                std::uint64_t communicator);
/// Compares all that `rank` has recorded with all that the others have.
std::optional<CallMismatch> find_any_mismatch(int rank, int world_size, const StateOf& state_of);

}  // namespace shoal::detail

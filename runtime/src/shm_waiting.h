#pragma once

#include <optional>

#include "call_book.h"
#include "call_errors.h"
#include "mapping.h"
#include "shoal/runtime/fabric.h"
#include "wait.h"

namespace shoal::detail {

/// How a rank of a shared-memory job waits for others, and what ends its waiting otherwise: the end of the job or of
/// the communicator, a peer that left or whose process is gone, a call of a peer's that does not fit, the deadline.
class ShmWaiting {
 public:
  ShmWaiting(const JobSegment::Mapping& mapping, int rank);

  /// Returns once ready() returns true; throws what makes waiting pointless. `awaited` may change between two looks.
  template <class Ready>
  void wait(const Awaited& awaited, CallContext& context, Ready&& ready) const {
    const AwaitsNobody afterwards{self_};
    wait_until(self_, policy_for(context), ready, [&](std::chrono::nanoseconds elapsed) {
      const auto end = find_end(awaited, context, elapsed);
      if (!end) return false;
      if (ready()) return true;  // What a lost peer had sent is still to be read.
      throw_end(*end, awaited, context);
    });
  }

  bool is_broken(const CallContext& context) const;
  /// Of a broken communicator, throws its first error.
  [[noreturn]] void throw_broken(CallContext& context) const;

  CommunicatorState& state_of(const CallContext& context) const;
  StateOf states() const;
  bool job_aborted() const;
  bool has_left(int peer) const;
  /// For whom this rank has just published something.
  void wake_peer(int peer) const noexcept {
    order_before_wake(barrier_);
    wake(mapping_.rank(peer));
  }
  /// All others of the call's communicator.
  void wake_others(const CallContext& context) const noexcept;

  /// Throws `mismatch` for what came from `peer`, of another call than this one; if that is on another communicator,
  /// its ranks are told as well.
  [[noreturn]] void refuse_foreign(int peer, const Arrived& arrived, const CallContext& context) const;
  /// Writes a communicator's first error; false if it has one.
  bool record_error(CommunicatorState& state, int peer, const Error& error) const noexcept;

 private:
  // What others may read of a wait is gone with it.
  struct AwaitsNobody {
    explicit AwaitsNobody(RankState& self) : state(self) {}
    AwaitsNobody(const AwaitsNobody&) = delete;
    AwaitsNobody& operator=(const AwaitsNobody&) = delete;
    ~AwaitsNobody() {
      if (state.awaits.load(std::memory_order_relaxed) != 0) state.awaits.store(0, std::memory_order_release);
    }
    RankState& state;
  };

  enum class Cause : std::uint8_t { gone, aborted, broken, left, left_behind, late };
  struct End {
    Cause cause;
    int peer = -1;
  };
  std::optional<End> find_end(const Awaited& awaited, CallContext& context, std::chrono::nanoseconds elapsed) const;
  /// Of a broken communicator.
  bool broken_by_mismatch(const CallContext& context) const;
  [[noreturn]] void throw_end(End end, const Awaited& awaited, CallContext& context) const;
  [[noreturn]] void throw_aborted(const Awaited& awaited, const CallContext& context) const;
  void compare_calls(const CallContext& context) const;
  void tell(std::uint64_t communicator, int peer, const Error& error) const noexcept;
  void look_for_circles(const Awaited& awaited, const CallContext& context) const;
  std::optional<End> find_told(const Awaited& awaited, const CallContext& context) const;
  bool owner_is_gone(int peer) const;
  /// One that the call waits for, or that must have told it something, and whose process is gone; -1: none.
  int find_gone(const Awaited& awaited, const CallContext& context) const;
  /// The rank that was killed while it wrote a communicator's first error; -1: none was.
  int dead_writer(std::uint32_t broken) const;
  WaitPolicy policy_for(const CallContext& context) const;

  const JobSegment::Mapping& mapping_;
  int rank_;
  int size_;
  WaitPolicy policy_;
  WakeBarrier barrier_;
  RankState& self_;
};

/// Whether the record that `once` guards is complete.
inline bool is_set(const std::atomic<std::uint32_t>& once) {
  // Pairs with the store of Once::set: the fields beside it are complete.
  return once.load(std::memory_order_acquire) == static_cast<std::uint32_t>(Once::set);
}

/// Where in the segment the communicator with this number lies; the rest of the number is how often it was taken.
constexpr std::uint32_t slot_of(std::uint64_t communicator) { return static_cast<std::uint32_t>(communicator); }

}  // namespace shoal::detail

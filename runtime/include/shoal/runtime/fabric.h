#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "shoal/runtime/calibration.h"
#include "shoal/runtime/error.h"
#include "shoal/runtime/operation.h"
#include "shoal/runtime/traffic.h"

// The seam between algorithms and what carries their bytes. Algorithms are written once, against Communicator;
// a fabric (shared memory today) implements what is here.

namespace shoal {

/// Combines incoming elements into local ones: into[i] = into[i] (op) incoming[i].
/// `function` gets whole elements and may be called several times for consecutive pieces of a message;
/// both pointers are aligned to the element only if the caller's buffer is.
struct Fold {
  void (*function)(std::byte* into, const std::byte* incoming, std::size_t bytes) = nullptr;
  std::size_t element_bytes = 1;
};

namespace detail {

/// One message out, one message in, or both, which then advance together, so that ranks that all send first
/// cannot deadlock, whatever the sizes. Ranks are world ranks; -1: no such direction.
struct Transfer {
  int to = -1;
  std::span<const std::byte> out{};
  int from = -1;
  std::span<std::byte> in{};
  const Fold* fold = nullptr;  ///< Fold the incoming message into `in` instead of copying it there.
  /// Where set, the incoming message may be shorter than `in`; its bytes are stored here.
  std::size_t* arrived = nullptr;

  bool takes(std::uint64_t bytes) const noexcept {
    return arrived == nullptr ? bytes == in.size() : bytes <= in.size();
  }
  std::size_t received() const noexcept { return arrived == nullptr ? in.size() : *arrived; }
};

/// What a rank is doing while it waits: whom to look at and when to give up.
struct CallContext {
  Call call;
  std::uint64_t fingerprint = 0;         ///< Must equal that of each message that arrives.
  std::uint64_t communicator = 0;        ///< As open_communicator() gave it; 0 is the world.
  std::uint64_t sequence = 0;            ///< Collective calls on this communicator so far; 0 for point to point.
  std::span<const int> members{};        ///< World ranks of the communicator's ranks; empty: the world itself.
  std::uint32_t step = 0;                ///< Transfers begun in this call.
  std::chrono::nanoseconds timeout{0};   ///< Waiting allowed for the whole call; 0: no limit.
  std::chrono::nanoseconds waited{0};    ///< Of which so much is used.
  std::chrono::nanoseconds compared{0};  ///< Waiting at which the peers' calls were last compared with this one.
  std::uint64_t round = 0;               ///< Rounds of arrivals on this communicator that this rank has begun.
  bool heard = false;                    ///< This rank has had the communicator's first error.
};

/// Of a peer that an error names, its world rank.
inline int world_rank(const CallContext& context, int rank) {
  return rank < 0 || context.members.empty() ? rank : context.members[static_cast<std::size_t>(rank)];
}

/// Of the call's communicator.
inline int member_count(const CallContext& context, int world_size) {
  return context.members.empty() ? world_size : static_cast<int>(context.members.size());
}

/// What a rank can publish as it arrives.
inline constexpr std::size_t kArrivalBytes = 112;

/// Where something lies that a rank shows the others: what it writes into its arrival, for them to go there. That is
/// memory that all ranks of the job reach, or the rank's own, out of which and into which the others can only copy. 0:
/// nowhere.
using Place = std::uint64_t;
inline constexpr Place kOwnMemory = Place{1} << 63;
constexpr bool in_own_memory(Place place) noexcept { return (place & kOwnMemory) != 0; }
/// Where `memory`, of this rank's own, lies for the others.
inline Place own_place(std::span<const std::byte> memory) noexcept {
  return reinterpret_cast<Place>(memory.data()) | kOwnMemory;
}

/// What a rank can show the others in one round, of what they do not reach where it lies.
inline constexpr std::size_t kStagingBytes = std::size_t{256} << 10;

/// Rounds of arrivals, on fabrics whose ranks reach flags that they share: in a round each rank of a communicator
/// publishes a few bytes in a line of its own, and awaits the lines of all others.
///
///     rank 0   arrive | await 1 | await 2
///     rank 1      arrive | await 0 | await 2
///     rank 2           arrive | await 0 | await 1
///
/// Each rank has two lines, for even and for odd rounds. Who arrives in round n overwrites its line of round n-2. That
/// one has been read by all: it has seen every other arrive in n-1, which nobody does before it is through with n-2. So
/// no round needs a second one to close it, provided that every rank awaits every other in every round: what has a root
/// and streams has no place here.
///
/// What does not fit into a line is shown by its Place: where it lies, if the others reach that, or copied into this
/// rank's staging. There are two of these too, and the same holds for them: that for round n may be written once all
/// have arrived in n-1. Memory of the caller's that was shown needs one more round before the call returns.
class Window {
 public:
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  virtual ~Window() = default;

  /// Publishes `payload` for round `context.round`. `read_by_others`: bytes of it that others await, all together,
  /// which are charged as sent.
  virtual void arrive(std::span<const std::byte> payload, std::uint64_t read_by_others, CallContext& context) = 0;

  /// The same with a payload that is no data of the caller's, and not charged.
  virtual void arrive_with_notice(std::span<const std::byte> notice, CallContext& context) = 0;

  /// Waits until world rank `peer` has arrived in round `context.round`. Returns its payload, kArrivalBytes, which
  /// stays until this rank arrives in the next round. Throws as Fabric::transfer.
  virtual std::span<const std::byte> await(int peer, CallContext& context) = 0;

  /// Where `memory` lies, if the others reach it.
  virtual std::optional<Place> place_of(std::span<const std::byte> memory) const = 0;
  /// This rank's staging for a round of the call's communicator; place_of finds it.
  virtual std::span<std::byte> staging(std::uint64_t round, const CallContext& context) = 0;
  /// What a peer has shown. Throws Error `system` for a place that is none.
  virtual std::span<std::byte> reach(Place place, std::size_t bytes, const CallContext& context) = 0;

  /// Whether all others of the call's communicator can copy out of this rank's own memory, and into it, as far as it
  /// knows: they find out, each for itself, when they are asked this, too. May come to be true, does not cease to be.
  virtual bool others_copy(const CallContext& context) = 0;
  /// Whether ranks outnumber cores, so that some take turns on one, and find in its caches what others there have left.
  virtual bool ranks_share_cores() const { return false; }
  /// Copies out of, or into, what world rank `peer` has shown, wherever that lies. Throws as await.
  virtual void copy_from(int peer, Place place, std::span<std::byte> to, CallContext& context) = 0;
  virtual void copy_to(int peer, Place place, std::span<const std::byte> from, CallContext& context) = 0;

  /// Enters payload that left this rank's memory for another's, or came, outside of channels and lines.
  virtual void charge(std::uint64_t sent, std::uint64_t received) = 0;
};

class Explanations;

class Fabric {
 public:
  Fabric() = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  virtual ~Fabric() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Enters `context.call` into this rank's record and ledger; the row is charged until the next call.
  /// Throws `broken` if the communicator is broken already.
  virtual void begin(CallContext& context) = 0;
  virtual void end(const CallContext& context) noexcept = 0;

  /// Moves both messages completely. Throws Error: mismatch, timeout, peer_lost, broken.
  virtual void transfer(const Transfer& transfer, CallContext& context) = 0;

  /// Lets what the next transfer sends to world rank `to` be on its way: as much of it as goes without waiting. That
  /// transfer must follow in the same call. A fabric need not do anything.
  virtual void announce(int /*to*/, std::span<const std::byte> /*out*/, CallContext& /*context*/) {}

  /// Lets world rank `from` put what the next transfer receives from it into `in` by itself. That transfer must follow
  /// in the same call, without a fold. A fabric need not do anything.
  virtual void expect(int /*from*/, std::span<std::byte> /*in*/, CallContext& /*context*/) {}

  /// Breaks the communicator for all its ranks and wakes them, unless it is broken already: first error wins.
  virtual void mark_broken(CallContext& context, const Error& error) noexcept = 0;

  /// Rounds of arrivals; null where ranks share no flags.
  virtual Window* window() noexcept { return nullptr; }

  /// The figures by which all ranks choose algorithms. May wait for world rank 0 to begin its first call, and throw as
  /// transfer(); `context` is that of a call that has not begun.
  virtual const Calibration& calibration(CallContext& context) = 0;

  /// What SHOAL_EXPLAIN tells; null where it is to tell nothing.
  virtual Explanations* explanations() noexcept { return nullptr; }

  /// Takes a communicator for these world ranks; each of them must close it. One rank takes it and tells the others.
  /// Throws Error `system` when there are too many.
  virtual std::uint64_t open_communicator(std::span<const int> members) = 0;
  virtual void close_communicator(std::uint64_t communicator) noexcept = 0;

  /// This rank makes no more calls; whoever waits for it finds it left. Throws Error `mismatch` if a call that it made
  /// does not fit a peer's, which no message had shown, or a message was left unread by this rank or one gone before.
  virtual void leave() = 0;

  /// Messages have sizes but no content here: buffers must not be read or written.
  virtual bool phantom() const noexcept { return false; }

  virtual Traffic traffic() const = 0;
};

}  // namespace detail
}  // namespace shoal

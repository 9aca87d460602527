#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shoal/runtime/calibration.h"
#include "shoal/runtime/choice.h"
#include "shoal/runtime/error.h"
#include "shoal/runtime/fabric.h"
#include "shoal/runtime/operation.h"
#include "shoal/runtime/traffic.h"

namespace shoal {

/// A group of ranks that make collective calls together. Each rank holds one object; all must make the same
/// calls in the same order. One thread at a time may use it.
///
/// Users call the functions of <shoal/shoal.h>; the byte-level members below are what algorithms are written in.
class Communicator {
 public:
  explicit Communicator(detail::Fabric& fabric);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// This rank's ledger, over all that it has moved since its session began, on any communicator.
  Traffic traffic() const;

  /// Ranks that pass the same `color` form a communicator, numbered by `key` and, where keys are equal, by their rank
  /// here. A collective call. The new one works beside this one and others (ranks that share several must use them in
  /// the same order), may be split again, and gives back what it took when all its ranks have destroyed theirs; that
  /// must be before the session ends. An error breaks only the communicator of the call; but ranks that share others
  /// may find its unread messages there, as a mismatch.
  ///
  /// Each rank sends 8 bytes to P-1 others, in P-1 steps, and the first of each new communicator 8 to each of its
  /// members. At most 1,023 communicators are open in a job at once: Error `system`.
  Communicator split(int color, int key = 0);

  /// The figures by which the job chooses its algorithms, for cost(). Waits until world rank 0 has begun a call; may
  /// throw as a call.
  Calibration calibration();

  /// True in a simulation without data: buffers have sizes, and must not be read or written. For algorithms.
  bool phantom() const noexcept { return fabric_->phantom(); }

  // ---- For algorithms: inside perform() only ----------------------------------------------------------

  /// Sends `out` to rank `to` and returns when it is in the channel (up to the channel's capacity, that is before
  /// the other side takes it; what the channel cannot hold is read out of the shared heap if it lies there). Counted as
  /// sent. `to` is another rank.
  void send(int to, std::span<const std::byte> out);
  /// Lets what the next send to `to` will send be on its way, without waiting: so that several receivers take theirs at
  /// once. That send must follow in this call, before any other to this rank.
  void announce(int to, std::span<const std::byte> out) { fabric_->announce(world_of(to), out, context_); }
  /// Lets the sender put what the next recv from `from` will receive into `in` by itself: so that several senders do at
  /// once, and this rank something else. That recv must follow in this call, before any other from this rank.
  void expect(int from, std::span<std::byte> in) { fabric_->expect(world_of(from), in, context_); }
  /// Receives a message of exactly in.size() bytes from rank `from`.
  void recv(int from, std::span<std::byte> in);
  /// Receives a message of at most in.size() bytes from rank `from`, and returns its size: for what only the sender
  /// knows the length of.
  std::size_t recv_at_most(int from, std::span<std::byte> in);
  /// As recv, but what arrives is combined into `into` straight out of the channel.
  void recv_fold(int from, std::span<std::byte> into, const Fold& fold);
  /// Both at once, advancing together: no message size deadlocks ranks that all exchange. `to` and `from` may
  /// be the same or different ranks, but not this one.
  void exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in);
  /// As exchange, but what arrives is combined into `into` straight out of the channel. `out` and `into` must
  /// not overlap.
  void exchange_fold(int to, std::span<const std::byte> out, int from, std::span<std::byte> into, const Fold& fold);

  /// Whether ranks share flags, on which they can arrive in rounds.
  bool has_arrivals() const noexcept { return fabric_->window() != nullptr; }
  /// Begins a round: publishes `payload`, at most kArrivalBytes, for all other ranks. Each of them, and this one, must
  /// await every other in the round. `read_by_others`: bytes of the payload that they await, all together, which count
  /// as sent.
  void arrive(std::span<const std::byte> payload, std::uint64_t read_by_others);
  /// The same with a payload that is no data of the caller's, and not counted.
  void arrive_with_notice(std::span<const std::byte> notice);
  /// Waits for rank `rank`, another one, to arrive in the round. Returns the `bytes` from `offset` on of its payload,
  /// counted as received; they stay until this rank arrives again.
  std::span<const std::byte> await_arrival(int rank, std::size_t offset, std::size_t bytes);
  /// The same for a notice: all of the payload.
  std::span<const std::byte> await_arrival(int rank);

  /// Where `memory` lies, if it is in the job's shared heap or in staging: others may reach it there, from when this
  /// rank has arrived with the place until it has seen all others arrive in a later round.
  std::optional<detail::Place> place_of(std::span<const std::byte> memory) const;
  /// Memory of this rank's that others reach, detail::kStagingBytes of it (less in a simulation that says so), for what
  /// is shown in the next round; from when all others have arrived in the present one.
  std::span<std::byte> staging();
  /// What another rank has shown in this call, where all reach it.
  std::span<std::byte> reach(detail::Place place, std::size_t bytes);
  /// Whether the others can copy out of this rank's own memory, and into it. To be asked by all ranks of a call in
  /// which that matters: it is then that they find out.
  bool others_copy() { return size_ > 1 && fabric_->window()->others_copy(context_); }
  /// Whether ranks outnumber cores.
  bool ranks_share_cores() const { return fabric_->window()->ranks_share_cores(); }
  /// Copies out of, or into, what `rank`, another one, has shown, wherever it lies.
  void copy_from(int rank, detail::Place place, std::span<std::byte> to);
  void copy_to(int rank, detail::Place place, std::span<const std::byte> from);
  /// Counts bytes that went from one rank's memory to another's by these: what was shown as sent by its rank, what was
  /// written by the writer; both as received by the rank that has them in the end.
  void charge(std::uint64_t sent, std::uint64_t received);

  /// How a call that asked for the same was made, while it is among the last: who chooses an algorithm need not
  /// choose again. `whole`: elements of the whole vector, which for some operations are no part of the call.
  std::optional<Call> chosen_before(const Call& asked, std::uint64_t whole) const {
    if (made_before_.empty()) return std::nullopt;
    const MadeBefore& last = made_before_[slot_of(asked, whole)];
    const bool same = last.chosen.algorithm != Algorithm::automatic && last.whole == whole && last.asked == asked;
    return same ? std::optional(last.chosen) : std::nullopt;
  }
  void remember_choice(const Call& asked, std::uint64_t whole, const Call& chosen) {
    if (made_before_.empty()) made_before_.resize(kOperationCount * kSizesKept);
    made_before_[slot_of(asked, whole)] = {asked, whole, chosen};
  }

  /// The figures to choose by, for a call that has not begun; `timeout` as for perform(), which counts this waiting,
  /// too.
  const Calibration& calibration_for(const Call& call, std::optional<std::chrono::milliseconds> timeout);
  /// Whether SHOAL_EXPLAIN wants to know from this rank how calls are chosen.
  bool explains() const noexcept { return explanations_ != nullptr; }
  /// Why `call`, which may follow, is made as it is.
  void explain(const Call& call, detail::Choice choice);

  /// Runs one call: `body` moves the bytes with the members above. An Error thrown from it breaks the
  /// communicator. Messages of different calls never meet: each carries the call's fingerprint.
  /// `timeout`: waiting allowed in the call; none: SHOAL_TIMEOUT, or no limit.
  template <class Body>
  void perform(const Call& call, std::optional<std::chrono::milliseconds> timeout, Body&& body) {
    begin(call, timeout);
    try {
      std::forward<Body>(body)();
    } catch (const Error& error) {
      fail(error);
      throw;
    } catch (const std::exception& error) {  // Out of memory, say: the others must not wait for the rest of this call.
      fail(Error(ErrorCode::system, error.what()));
      throw;
    }
    end();
  }

  /// Breaks the communicator because this rank's caller made a mistake, and throws it:
  /// `rank 1: broadcast: root 7 is not a rank of this communicator (size 4)`.
  [[noreturn]] void refuse(const Call& call, const std::string& mistake);

 private:
  // Calls of one operation and a few sizes take turns in many programs.
  static constexpr std::size_t kSizesKept = 4;
  static std::size_t slot_of(const Call& asked, std::uint64_t whole) noexcept {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(asked.operation) * kSizesKept + (whole * kGolden >> 62);
  }
  struct MadeBefore {
    Call asked{};
    std::uint64_t whole = 0;
    Call chosen{};  // With an algorithm, unless there is none yet.
  };
  // A communicator of its own in the fabric, closed when this goes.
  class Lease;
  Communicator(detail::Fabric& fabric, std::uint64_t id, std::vector<int> members, int rank);

  int world_of(int rank) const noexcept { return members_.empty() ? rank : members_[static_cast<std::size_t>(rank)]; }
  void transfer(detail::Transfer transfer);
  void begin(const Call& call, std::optional<std::chrono::milliseconds> timeout);
  void end() noexcept;
  void fail(const Error& error) noexcept;

  detail::Fabric* fabric_;
  int rank_;
  int size_;
  std::uint64_t sequence_ = 0;  // Collective calls begun; the same on every rank.
  std::uint64_t history_ = 1;   // Digest of these calls; the same on every rank.
  std::optional<std::chrono::milliseconds> default_timeout_;
  std::vector<int> members_;  // World ranks, by rank here; empty: the world.
  std::unique_ptr<Lease> lease_;
  detail::CallContext context_;
  std::vector<MadeBefore> made_before_;           // The last of each operation and kind of size, from the first on.
  std::chrono::nanoseconds waited_to_choose_{0};  // Before the call that is about to begin.
  detail::Explanations* explanations_;            // Of rank 0; null where nothing is to be told.
};

}  // namespace shoal

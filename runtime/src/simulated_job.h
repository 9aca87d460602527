#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "call_book.h"
#include "call_errors.h"
#include "fiber_scheduler.h"
#include "layout.h"
#include "shoal/runtime/phantom_buffer.h"
#include "shoal/runtime/simulation.h"
#include "simulated_channel.h"

namespace shoal::detail {

/// Thrown out of the transfer of a rank that dies. No std::exception, so that nobody takes it for an error of the call
/// and lets the others know: the dead tell nothing.
struct SimulatedDeath {};

/// A flag line, and the virtual time from which others see what was published last.
struct SimulatedLine {
  FlagLine flag{};
  std::chrono::nanoseconds visible{0};
};

/// Virtual time that moving so many bytes takes.
inline std::chrono::nanoseconds transfer_time(const SimulationOptions& options, std::size_t bytes) {
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(bytes) / options.bytes_per_second * 1e9));
}

/// What the ranks of a simulated world share: what real ones have in their segment.
class SimulatedJob {
 public:
  struct Rank {
    SimulatedRank outcome;
    std::unique_ptr<RankState> state = std::make_unique<RankState>();
    std::unique_ptr<Ledger> ledger = std::make_unique<Ledger>();
    CallContext* blocked_in = nullptr;  ///< While it is blocked: its call, and for whom it waits.
    Awaited awaited;
    bool finished = false;
  };

  SimulatedJob(int ranks, const SimulationOptions& options);

  int size() const { return static_cast<int>(ranks_.size()); }
  const SimulationOptions& options() const { return options_; }
  FiberScheduler& scheduler() { return scheduler_; }
  Rank& rank(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  /// Stays where it is.
  SimulatedChannel& channel(int from, int to);

  /// Of a communicator, a world rank, and rounds that are even (0) or odd (1). Stays where it is.
  SimulatedLine& line(std::uint64_t communicator, int rank, std::uint64_t parity);

  /// Of a communicator, a world rank, and rounds that are even (0) or odd (1). Stays where it is.
  std::span<std::byte> staging(std::uint64_t communicator, int rank, std::uint64_t parity);
  /// Whether `memory` is any rank's staging.
  bool is_staging(std::span<const std::byte> memory) const;
  /// Whether others reach this buffer of a caller's.
  bool draw_reach();
  /// Whether others can copy out of a rank's own memory, this time.
  bool draw_copies();

  /// The first error of a communicator; null while there is none.
  const FirstError* broken(std::uint64_t communicator) const;
  void set_broken(std::uint64_t communicator, const FirstError& error);

  /// Throws `mismatch` for what came to `rank` from `peer`, of another call than its own; if that is on another
  /// communicator, its ranks are told as well.
  [[noreturn]] void refuse_foreign(int rank, int peer, const Arrived& arrived, const CallContext& context);

  std::uint64_t open_communicator(int members);
  void close_communicator(std::uint64_t communicator);
  /// Communicators, besides the world, that not all members have closed.
  std::size_t open_communicators() const { return members_open_.size(); }
  StateOf states() {
    return [this](int index) -> const RankState& { return *rank(index).state; };
  }

  /// Once all have ended: a message that its receiver left without; empty where all were received, or an error came
  /// first.
  struct Unread {
    int receiver;
    Error error;
  };
  std::optional<Unread> find_unread() const;

  std::optional<int> dead() const { return dead_; }
  void die(int rank);
  void finish(int rank);

  /// Empty, or who waits for whom. Set when nobody can go on (and no call of those that wait fits another's badly,
  /// which is then their error); wakes everybody.
  const std::string& deadlock() const { return deadlock_; }
  void resolve_standstill();

  /// How much of `most` bytes moves in one go, in whole elements of any type unless it is the `rest` of a message:
  /// all of it, or a random part.
  std::uint64_t draw_piece(std::uint64_t most, bool rest);
  bool random() const { return options_.schedule == SimulationOptions::Schedule::random; }

 private:
  void wake_all();

  SimulationOptions options_;
  FiberScheduler scheduler_;
  std::vector<Rank> ranks_;
  SimulatedMessages unused_messages_;
  std::vector<std::unordered_map<int, SimulatedChannel>> channels_;  // [from], by to: only those in use exist.
  /// What the ranks of a communicator share beside channels.
  struct Shared {
    std::vector<std::array<SimulatedLine, 2>> lines;  // Of each world rank.
    std::unique_ptr<std::byte[]> staging;             // Two areas of each; none in a simulation without data.
  };
  Shared& shared(std::uint64_t communicator);

  std::unordered_map<std::uint64_t, Shared> shared_;  // By communicator.
  std::optional<PhantomBuffer> phantom_staging_;
  std::uint64_t capacity_;
  std::map<std::uint64_t, FirstError> broken_;
  std::map<std::uint64_t, int> members_open_;  // By communicator.
  std::uint64_t communicators_ = 0;            // Opened so far.
  std::optional<int> dead_;
  std::string deadlock_;
};

}  // namespace shoal::detail

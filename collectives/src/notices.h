#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include "algorithms.h"
#include "arrivals.h"
#include "by_rank.h"
#include "chunks.h"
#include "scratch.h"
#include "shoal/runtime/communicator.h"

// What the direct algorithms and those by slots share: rounds of arrivals in which every rank shows the others a block
// of its data, and they go there and take what they need of it.
//
//     rank 0   show block 0 | all arrived | take from 1, 2 | show block 1 | ...
//     rank 1   show block 0 | all arrived | take from 0, 2 | show block 1 | ...
//
// Data in the job's shared heap is shown where it lies; so is data in a rank's own memory, where the others can copy
// out of that, and into it. Other data is copied into the rank's staging first: blocks are small enough to stay in
// cache from there to the reader. Each rank does what fits its own buffers and tells the others in its arrival. Where
// all show where it lies there is only one block, of everything. Bytes are the same in all cases.
//
// Invariant: staging for round n is written only once all have arrived in round n-1, that is, are through with what was
// shown in n-2 (Window in fabric.h). Whoever showed or let others write the caller's memory returns after one round
// more.

namespace shoal::detail {

/// A block of data that each rank shows in a round, at most, where ranks have cores of their own. Ranks must agree on
/// it.
inline constexpr std::size_t kDirectBlockBytes = std::size_t{64} << 10;

/// Blocks begin at multiples of it: whole elements of any type, and cache lines of what is aligned.
inline constexpr std::size_t kBlockUnit = 64;
/// So that the blocks of all ranks and a result fit into staging.
inline constexpr int kMostDirectRanks = static_cast<int>(kStagingBytes / kBlockUnit) - 1;

/// Of each rank's chunk, what is shown at once: the blocks for all ranks and one for a result fit into the staging.
constexpr std::size_t chunk_block_bytes(std::size_t staging_bytes, int ranks) noexcept {
  const std::size_t share = staging_bytes / (static_cast<std::size_t>(ranks) + 1);
  return std::min(share, kDirectBlockBytes) / kBlockUnit * kBlockUnit;
}

/// Of a vector that is shown as a whole, what is shown at once. Where ranks share cores a round costs a switch to each
/// of them, and nobody copies while another stages: as much as there is room for.
constexpr std::size_t vector_block_bytes(std::size_t staging_bytes, bool ranks_share_cores) noexcept {
  return ranks_share_cores ? staging_bytes : std::min(staging_bytes, kDirectBlockBytes);
}
inline std::size_t vector_block_bytes(Communicator& comm) {
  return comm.size() == 1 ? kDirectBlockBytes : vector_block_bytes(comm.staging().size(), comm.ranks_share_cores());
}

/// From here on a call shows data where it lies, at the price of a round more: data in the shared heap, and any.
constexpr std::size_t in_heap_bytes(std::size_t staging_bytes) noexcept { return staging_bytes / 256; }
constexpr std::size_t in_place_bytes(std::size_t staging_bytes) noexcept { return staging_bytes / 8; }

/// What a rank tells the others in its arrival.
struct Notice {
  Place data = 0;    ///< The block that it shows.
  Place result = 0;  ///< Of the round before, its part of the result, for who has no `out`.
  Place out = 0;     ///< Where the others write its result; 0: nowhere.
  /// 1: `data` is where all of the caller's data begins (or there is none): in the shared heap, or the rank's own
  /// memory.
  std::uint64_t data_in_place = 0;
};
static_assert(sizeof(Notice) <= kArrivalBytes && std::is_trivially_copyable_v<Notice>);

/// The ranks' notices of the present round.
class Notices {
 public:
  explicit Notices(Communicator& comm) : comm_(comm), notices_(static_cast<std::size_t>(comm.size())) {}

  void arrive(const Notice& own) {
    comm_.arrive_with_notice(std::as_bytes(std::span(&own, 1)));
    (*this)[comm_.rank()] = own;
  }
  /// Waits until all have arrived.
  void await_all() {
    visit_others(comm_,
                 [&](int rank) { std::memcpy(&(*this)[rank], comm_.await_arrival(rank).data(), sizeof(Notice)); });
    for (const Notice& notice : notices_) callers_memory_ |= notice.data_in_place != 0 || notice.out != 0;
  }

  /// Nobody has staged any of its data.
  bool all_in_place() const {
    return std::ranges::all_of(notices_, [](const Notice& notice) { return notice.data_in_place != 0; });
  }

  /// Ends the call: waits until nobody needs this rank's own memory any more. All ranks alike.
  void close() {
    if (!callers_memory_) return;
    arrive({});
    await_all();
  }

  const Notice& of(int rank) const { return notices_[static_cast<std::size_t>(rank)]; }

 private:
  Notice& operator[](int rank) { return notices_[static_cast<std::size_t>(rank)]; }

  Communicator& comm_;
  ByRank<Notice> notices_;
  bool callers_memory_ = false;
};

/// How a call by slots or direct shows. A rank's own memory costs a system call for each piece too, which takes larger
/// ones, and direct; and the kernel some time for each page: where ranks share cores, the way by staging, which is in
/// the caches of both sides, is shorter.
inline Showing showing_of(Communicator& comm, const Call& call) {
  const std::size_t bytes = call.count * element_bytes(call.type);
  if (comm.size() == 1 || bytes < in_heap_bytes(comm.staging().size())) return Showing::copies;
  const std::size_t many_bytes = in_place_bytes(comm.staging().size());
  const std::size_t pieces = call.operation == Operation::broadcast ? 1 : static_cast<std::size_t>(comm.size());
  const bool many = bytes >= many_bytes && bytes / pieces >= many_bytes / 2;
  const bool by_kernel = many && call.algorithm == Algorithm::direct && !comm.ranks_share_cores();
  return by_kernel ? Showing::in_place : Showing::in_heap;
}

/// Where the others get at a caller's buffer, if it is to be shown in place and they can.
inline std::optional<Place> place_to_show(Communicator& comm, std::span<const std::byte> buffer, Showing showing) {
  if (showing == Showing::copies || comm.size() == 1) return std::nullopt;
  const bool copied = showing == Showing::in_place && comm.others_copy();  // Asked by all, whatever their buffers are.
  if (const auto place = comm.place_of(buffer)) return place;
  return copied ? std::optional(own_place(buffer)) : std::nullopt;
}

/// Copies `block` into the staging of the next round, and returns where it lies there.
inline Place stage(Communicator& comm, std::span<const std::byte> block) {
  const auto staging = comm.staging();
  copy_bytes(comm, block, staging);
  return *comm.place_of(staging);
}

/// What this rank tells of a vector that goes block by block: where all of it lies, if it is shown there, else where
/// `block`, that of the next round, has been staged.
inline Notice notice_of(Communicator& comm, std::optional<Place> place, std::span<const std::byte> block) {
  if (place) return {.data = *place, .data_in_place = 1};
  return {.data = comm.size() == 1 ? 0 : stage(comm, block)};
}
/// Where block `round` of such a vector of another rank's lies.
inline Place place_of_block(const Notice& theirs, std::uint64_t round, std::size_t block_bytes) noexcept {
  return theirs.data + (theirs.data_in_place != 0 ? round * block_bytes : 0);
}

}  // namespace shoal::detail

#pragma once

#include "call_book.h"
#include "own_memory.h"
#include "shm_waiting.h"
#include "shoal/runtime/fabric.h"

namespace shoal::detail {

/// Rounds of arrivals on the flag lines of the job's segment; ranks reach its staging and its heaps.
class ShmWindow : public Window {
 public:
  ShmWindow(const JobSegment::Mapping& mapping, int rank, const ShmWaiting& waiting, CallBook& book)
      : mapping_(mapping), rank_(rank), waiting_(waiting), book_(book), copying_(mapping, rank) {}

  void arrive(std::span<const std::byte> payload, std::uint64_t read_by_others, CallContext& context) override;
  void arrive_with_notice(std::span<const std::byte> notice, CallContext& context) override;
  std::span<const std::byte> await(int peer, CallContext& context) override;
  std::optional<Place> place_of(std::span<const std::byte> memory) const override;
  std::span<std::byte> staging(std::uint64_t round, const CallContext& context) override;
  std::span<std::byte> reach(Place place, std::size_t bytes, const CallContext& context) override;
  bool others_copy(const CallContext& context) override;
  bool ranks_share_cores() const override { return mapping_.geometry.ranks > mapping_.header().cores; }
  void copy_from(int peer, Place place, std::span<std::byte> to, CallContext& context) override;
  void copy_to(int peer, Place place, std::span<const std::byte> from, CallContext& context) override;
  void charge(std::uint64_t sent, std::uint64_t received) override;

  void try_to_copy(int peer) { copying_.try_to_copy(peer); }
  bool copied_by(int peer) const { return copying_.copied_by(peer); }

 private:
  /// Throws why a peer's own memory could not be copied.
  [[noreturn]] void throw_failed(int failure, int peer, Place place, std::size_t bytes, CallContext& context) const;
  void publish(std::span<const std::byte> payload, CallContext& context);
  FlagLine& line(int rank, const CallContext& context) const {
    return mapping_.flag_line(slot_of(context.communicator), rank, context.round % 2);
  }

  const JobSegment::Mapping& mapping_;
  int rank_;
  const ShmWaiting& waiting_;
  CallBook& book_;
  OwnMemory copying_;
};

}  // namespace shoal::detail

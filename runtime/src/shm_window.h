#pragma once

#include "call_book.h"
#include "shm_waiting.h"
#include "shoal/runtime/fabric.h"

namespace shoal::detail {

/// Rounds of arrivals on the flag lines of the job's segment.
class ShmWindow : public Window {
 public:
  ShmWindow(const JobSegment::Mapping& mapping, int rank, const ShmWaiting& waiting, CallBook& book)
      : mapping_(mapping), rank_(rank), waiting_(waiting), book_(book) {}

  void arrive(std::span<const std::byte> payload, std::uint64_t read_by_others, CallContext& context) override;
  std::span<const std::byte> await(int peer, ArrivalPart part, CallContext& context) override;

 private:
  FlagLine& line(int rank, const CallContext& context) const {
    return mapping_.flag_line(slot_of(context.communicator), rank, context.round % 2);
  }

  const JobSegment::Mapping& mapping_;
  int rank_;
  const ShmWaiting& waiting_;
  CallBook& book_;
};

}  // namespace shoal::detail

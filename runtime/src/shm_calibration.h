#pragma once

#include <optional>
#include <string>

#include "mapping.h"
#include "shm_waiting.h"
#include "shoal/runtime/calibration.h"
#include "shoal/runtime/fabric.h"

namespace shoal::detail {

/// The job's calibration, which rank 0 loads or measures and puts into the segment, as all ranks see it.
///
/// Rank 0 does so at the beginning of its first call, whichever that is, before it waits for anybody. So whoever waits
/// for it waits for a rank that is not in a call yet, as the call that needs it would; no circle of ranks that wait for
/// each other can have it in between.
class ShmCalibration {
 public:
  ShmCalibration(const JobSegment::Mapping& mapping, int rank, const ShmWaiting& waiting)
      : mapping_(mapping), rank_(rank), waiting_(waiting) {}

  /// Rank 0 begins a call. A job of one rank has no use for it.
  void provide() noexcept {
    if (rank_ == 0 && !own_copy_ && mapping_.geometry.ranks > 1) publish();
  }
  /// Waits until it is there. Throws as Fabric::transfer.
  const Calibration& get(CallContext& context);
  /// Where it comes from, and its figures; once it is there.
  std::string description() const;

 private:
  void publish() noexcept;
  bool is_there() const;

  const JobSegment::Mapping& mapping_;
  int rank_;
  const ShmWaiting& waiting_;
  std::optional<Calibration> own_copy_;
};

}  // namespace shoal::detail

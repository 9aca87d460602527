#pragma once

#include <cstdint>

namespace shoal {

/// What a job's machine takes for what algorithms are made of: the figures by which one is chosen, the same for all its
/// ranks (docs/algorithms.md, "Selection").
struct Calibration {
  double hop_ns = 0;                 ///< Of a cache line from one core to another.
  double cached_bytes_per_ns = 0;    ///< Of a copy within a core's own caches.
  double uncached_bytes_per_ns = 0;  ///< Of a copy that these do not hold.
  double yield_ns = 0;               ///< Of a switch from one rank to another; 0 where every rank has a core.
  std::uint32_t cores = 1;           ///< Ranks that can run at once.
  std::uint32_t cache_bytes = 0;     ///< What a core's own caches hold.

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// A machine of many cores, always the same: that of simulated ranks, and of questions about no job in particular.
inline constexpr Calibration kReferenceCalibration{.hop_ns = 150,
                                                   .cached_bytes_per_ns = 20,
                                                   .uncached_bytes_per_ns = 6,
                                                   .yield_ns = 0,
                                                   .cores = 4096,
                                                   .cache_bytes = std::uint32_t{2} << 20};

}  // namespace shoal

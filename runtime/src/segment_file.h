#pragma once

#include <cstdint>

namespace shoal::detail {

struct SegmentFile {
  int descriptor;  ///< New, close-on-exec and the caller's.
  bool reserved;   ///< Whether memory has to be reserved before it is touched: touching other is death by SIGBUS.
};

/// Where the memory of a job's segment comes from: `bytes` zero bytes of shared memory that no name leads to. A sealed
/// memfd, whose pages are taken as they are touched; where the kernel or a sandbox refuses that, or SHOAL_SEGMENT=posix
/// asks for it, an object of /dev/shm, which is named for a moment, and the first `reserved` bytes of which are reserved.
///
/// Throws Error `system`, naming what was needed and what there was; `invalid_argument` for another SHOAL_SEGMENT.
SegmentFile make_segment_file(std::uint64_t bytes, std::uint64_t reserved);

}  // namespace shoal::detail

#pragma once

#include <cstdint>

namespace shoal::detail {

/// Where the memory of a job's segment comes from: a new descriptor, close-on-exec and the caller's, of `bytes` zero
/// bytes of shared memory that no name leads to. A sealed memfd, whose pages are taken as they are touched; where the
/// kernel or a sandbox refuses that, or SHOAL_SEGMENT=posix asks for it, an object of /dev/shm, which is named for a
/// moment and reserved from the start, so that nobody dies of SIGBUS later.
///
/// Throws Error `system`, naming what was needed and what there was; `invalid_argument` for another SHOAL_SEGMENT.
int make_segment_file(std::uint64_t bytes);

}  // namespace shoal::detail

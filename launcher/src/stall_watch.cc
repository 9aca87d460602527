#include "stall_watch.h"

#include <algorithm>

namespace shoal::detail {

std::chrono::milliseconds StallWatch::interval() const {
  using std::chrono::milliseconds;
  return std::clamp(limit_ / 10, milliseconds(10), milliseconds(1000));
}

bool StallWatch::look(std::uint64_t progress, bool must_go_on, Time now) {
  if (!begun_ || !must_go_on || progress != progress_) {
    begun_ = true;
    progress_ = progress;
    since_ = now;
    return false;
  }
  return now - since_ >= limit_;
}

}  // namespace shoal::detail

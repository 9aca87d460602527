#pragma once

#include <csignal>

namespace shoal::train {

/// While it lives, the first SIGTERM and the first SIGINT are a wish to stop at the next good moment. Each does what
/// it usually does when it comes again, or after this is gone; but a SIGTERM within a second of the first is the same wish:
/// who stops a job sends it to every process at once, and the launcher passes on its own.
class StopRequest {
 public:
  StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  ~StopRequest();

  /// The signal that came, 0 for none.
  int signal() const;

 private:
  struct sigaction terminate_before_ {};
  struct sigaction interrupt_before_ {};
};

}  // namespace shoal::train

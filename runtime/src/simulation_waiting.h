#pragma once

#include "call_errors.h"
#include "simulated_job.h"

namespace shoal::detail {

/// How a simulated rank waits for others, and where another may go on instead. Runs in the rank's fiber.
class SimulationWaiting {
 public:
  SimulationWaiting(SimulatedJob& job, int rank) : job_(job), rank_(rank), self_(job.rank(rank)) {}

  /// Where another rank may go on, and where this one may die.
  void scheduling_point();
  /// Blocks until something that this rank awaits may have changed; throws what makes waiting pointless.
  void block(const Awaited& awaited, CallContext& context);

 private:
  void check(const Awaited& awaited, CallContext& context);

  SimulatedJob& job_;
  int rank_;
  SimulatedJob::Rank& self_;
};

}  // namespace shoal::detail

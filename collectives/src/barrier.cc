#include "shoal/collectives/barrier.h"

#include "algorithms.h"
#include "selection.h"

namespace shoal {

void barrier(Communicator& comm, Options options) {
  Call call{.operation = Operation::barrier};
  detail::select_algorithm(comm, call, 0, options);
  comm.perform(call, options.timeout, [&] {
    call.algorithm == Algorithm::tiny ? detail::barrier_tiny(comm) : detail::barrier_dissemination(comm);
  });
}

}  // namespace shoal

#include "shoal/collectives/barrier.h"

#include "algorithms.h"
#include "closed_form.h"
#include "selection.h"

namespace shoal {

void barrier(Communicator& comm, Options options) {
  Call call{.operation = Operation::barrier};
  detail::select_algorithm(comm, call, options);
  call.steps = detail::steps_of(call, 0, comm.size(), comm.rank());
  comm.perform(call, options.timeout, [&] {
    call.algorithm == Algorithm::tiny ? detail::barrier_tiny(comm) : detail::barrier_dissemination(comm);
  });
}

}  // namespace shoal

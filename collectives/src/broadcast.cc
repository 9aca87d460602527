#include "shoal/collectives/broadcast.h"

#include "algorithms.h"
#include "arguments.h"
#include "notices.h"
#include "selection.h"

namespace shoal::detail {

void broadcast(Communicator& comm, std::span<std::byte> data, DataType type, int root, const Options& options) {
  Call call{.operation = Operation::broadcast, .type = type, .root = root, .count = elements_in(data.size(), type)};
  check_root(comm, call);
  select_algorithm(comm, call, call.count, options);
  comm.perform(call, options.timeout, [&] {
    if (call.algorithm == Algorithm::pipelined) {
      broadcast_pipelined(comm, data, root);
    } else if (shows(call.algorithm)) {
      broadcast_direct(comm, data, root, showing_of(comm, call));
    } else {
      broadcast_binomial(comm, data, root);
    }
  });
}

}  // namespace shoal::detail

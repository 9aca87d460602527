#include "shoal/collectives/all_gather.h"

#include "algorithms.h"
#include "arguments.h"
#include "notices.h"
#include "scratch.h"
#include "selection.h"

namespace shoal::detail {

void all_gather(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type,
                const Options& options) {
  Call call{.operation = Operation::all_gather, .type = type, .count = elements_in(out.size(), type)};
  const Partition partition(call.count, comm.size());
  check_elements(comm, call, "in", in, partition.size(comm.rank()), "the size of this rank's chunk of out");
  const auto own = partition.slice_bytes(out, comm.rank(), element_bytes(type));
  if (in.data() != own.data()) check_apart(comm, call, in, out);
  select_algorithm(comm, call, call.count, options);

  comm.perform(call, options.timeout, [&] {
    const Chunks chunks(partition, element_bytes(type));
    if (shows(call.algorithm)) return all_gather_direct(comm, in, out, chunks, showing_of(comm, call));
    copy_bytes(comm, in, own);
    if (call.algorithm == Algorithm::recursive_doubling) {
      all_gather_recursive_doubling(comm, out, chunks);
    } else if (call.algorithm == Algorithm::bruck) {
      all_gather_bruck(comm, out, chunks);
    } else if (call.algorithm == Algorithm::tiny) {
      all_gather_tiny(comm, out, chunks);
    } else {
      all_gather_ring(comm, out, chunks);
    }
  });
}

}  // namespace shoal::detail

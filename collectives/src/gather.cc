#include "shoal/collectives/gather.h"

#include "algorithms.h"
#include "arguments.h"
#include "selection.h"

namespace shoal::detail {

void gather(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type, int root,
            const Options& options) {
  // The whole count is known at the root only, so it is no part of the call: that each rank's `in` is its chunk is
  // checked by the lengths that arrive.
  Call call{.operation = Operation::gather, .type = type, .root = root};
  check_root(comm, call);
  const bool at_root = comm.rank() == root;
  const std::size_t count = elements_in(out.size(), type);
  if (at_root) {
    check_elements(comm, call, "in", in, Partition(count, comm.size()).size(root),
                   "the size of this rank's chunk of out");
    check_apart(comm, call, in, out);
  } else {
    check_empty_off_root(comm, call, "out", out);
  }
  select_algorithm(comm, call, count, options);

  comm.perform(call, options.timeout, [&] {
    const bool binomial = call.algorithm == Algorithm::binomial;
    if (at_root) {
      const Chunks chunks(Partition(count, comm.size()), element_bytes(type));
      binomial ? gather_binomial(comm, in, out, chunks, root) : gather_linear(comm, in, out, chunks, root);
    } else {
      binomial ? gather_binomial_off_root(comm, in, element_bytes(type), root) : gather_linear_off_root(comm, in, root);
    }
  });
}

}  // namespace shoal::detail

#include "shoal/collectives/reduce.h"

#include "algorithms.h"
#include "arguments.h"
#include "notices.h"
#include "scratch.h"
#include "selection.h"

// reduce = reduce-scatter, by the algorithm that the call names, + gather of the chunks to the root; no rank but the
// root needs more than its own chunk. Or whole vectors up the tree, where the call names binomial.

namespace shoal::detail {

void reduce(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type, ReduceOp op,
            int root, const Options& options) {
  Call call{.operation = Operation::reduce,
            .type = type,
            .reduce_op = op,
            .root = root,
            .count = elements_in(in.size(), type)};
  check_root(comm, call);
  check_reduction(comm, call);
  const bool at_root = comm.rank() == root;
  if (at_root) {
    check_elements(comm, call, "out", out, call.count, "at the root it receives as many as in has");
    check_apart(comm, call, in, out);
  } else {
    check_empty_off_root(comm, call, "out", out);
  }
  select_algorithm(comm, call, call.count, options);

  comm.perform(call, options.timeout, [&] {
    if (call.algorithm == Algorithm::binomial) return reduce_binomial(comm, in, out, root, op, type);
    if (shows(call.algorithm)) return reduce_direct(comm, in, out, root, op, type, showing_of(comm, call));
    const Chunks chunks(Partition(call.count, comm.size()), element_bytes(type));
    Scratch scratch(comm, at_root ? 0 : chunks.size(comm.rank()));
    const auto own = at_root ? chunks.slice(out, root) : scratch.bytes();
    reduce_scatter_by(call.algorithm, comm, in, own, chunks, op, type);
    gather_linear(comm, own, out, chunks, root);
  });
}

}  // namespace shoal::detail

#include "shoal/collectives/scatter.h"

#include "algorithms.h"
#include "arguments.h"
#include "selection.h"

namespace shoal::detail {
namespace {

/// Both ways of scattering: chunks and hands of cards have the same sizes.
void run(Communicator& comm, Operation operation, std::span<const std::byte> in, std::span<std::byte> out,
         DataType type, int root, const Options& options) {
  // The whole count is known at the root only, so it is no part of the call: that each rank's `out` has the size of
  // its chunk is checked by the length that arrives.
  Call call{.operation = operation, .type = type, .root = root};
  check_root(comm, call);
  const bool at_root = comm.rank() == root;
  const Partition partition(elements_in(in.size(), type), comm.size());
  if (at_root) {
    check_elements(comm, call, "out", out, partition.size(root), "the size of this rank's chunk of in");
    check_apart(comm, call, in, out);
  } else {
    check_empty_off_root(comm, call, "in", in);
  }
  select_algorithm(comm, call, partition.elements(), options);

  comm.perform(call, options.timeout, [&] {
    const bool binomial = call.algorithm == Algorithm::binomial;
    if (!at_root) {
      binomial ? scatter_binomial_off_root(comm, out, element_bytes(type), root)
               : scatter_linear_off_root(comm, out, root);
    } else if (operation == Operation::scatter_cyclic) {
      scatter_cyclic_linear(comm, in, out, element_bytes(type));
    } else {
      const Chunks chunks(partition, element_bytes(type));
      binomial ? scatter_binomial(comm, in, out, chunks, root) : scatter_linear(comm, in, out, chunks, root);
    }
  });
}

}  // namespace

void scatter(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type, int root,
             const Options& options) {
  run(comm, Operation::scatter, in, out, type, root, options);
}

void scatter_cyclic(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type,
                    int root, const Options& options) {
  run(comm, Operation::scatter_cyclic, in, out, type, root, options);
}

}  // namespace shoal::detail

#include "shoal/collectives/scatter_v.h"

#include "algorithms.h"
#include "arguments.h"
#include "selection.h"

namespace shoal::detail {

void scatter_v(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
               std::span<const std::size_t> counts, DataType type, int root, const Options& options) {
  Call call{.operation = Operation::scatter_v, .type = type, .root = root};
  check_root(comm, call);
  const bool at_root = comm.rank() == root;
  if (at_root) {
    check_counts(comm, call, "counts", counts, "in", in);
    check_apart(comm, call, in, out);
  } else {
    check_empty_off_root(comm, call, "in", in);
  }
  if (at_root || !counts.empty()) check_own_count(comm, call, "out", out, "counts", counts);
  select_algorithm(comm, call, options);
  call.steps = at_root ? static_cast<std::uint32_t>(comm.size() - 1) : 1;

  comm.perform(call, options.timeout, [&] {
    if (at_root) {
      scatter_linear(comm, in, out, Chunks(counts, element_bytes(type)), root);
    } else {
      scatter_linear_off_root(comm, out, root);
    }
  });
}

}  // namespace shoal::detail

#include "shoal/collectives/gather_v.h"

#include "algorithms.h"
#include "arguments.h"
#include "selection.h"

namespace shoal::detail {

void gather_v(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
              std::span<const std::size_t> counts, DataType type, int root, const Options& options) {
  Call call{.operation = Operation::gather_v, .type = type, .root = root};
  check_root(comm, call);
  const bool at_root = comm.rank() == root;
  if (at_root) {
    check_counts(comm, call, "counts", counts, "out", out);
    check_apart(comm, call, in, out);
  } else {
    check_empty_off_root(comm, call, "out", out);
  }
  if (at_root || !counts.empty()) check_own_count(comm, call, "in", in, "counts", counts);
  select_algorithm(comm, call, options);
  call.steps = at_root ? static_cast<std::uint32_t>(comm.size() - 1) : 1;

  comm.perform(call, options.timeout, [&] {
    if (at_root) {
      gather_linear(comm, in, out, Chunks(counts, element_bytes(type)), root);
    } else {
      gather_linear_off_root(comm, in, root);
    }
  });
}

}  // namespace shoal::detail

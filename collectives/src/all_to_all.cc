#include "shoal/collectives/all_to_all.h"

#include "algorithms.h"
#include "arguments.h"
#include "notices.h"
#include "selection.h"

namespace shoal::detail {

void all_to_all(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type,
                const Options& options) {
  Call call{.operation = Operation::all_to_all, .type = type, .count = elements_in(in.size(), type)};
  const Partition partition(call.count, comm.size());
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::size_t own = partition.size(comm.rank());
  check_elements(comm, call, "out", out, ranks * own, "the size of this rank's chunk of in, from every rank");
  check_apart(comm, call, in, out);
  select_algorithm(comm, call, call.count, options);

  comm.perform(call, options.timeout, [&] {
    const ByRank<std::size_t> received(ranks, own * element_bytes(type));
    const Chunks in_chunks(partition, element_bytes(type));
    const Chunks out_chunks(std::span(received.data(), received.size()));
    if (shows(call.algorithm)) return all_to_all_direct(comm, in, in_chunks, out, out_chunks, showing_of(comm, call));
    call.algorithm == Algorithm::tiny ? all_to_all_tiny(comm, in, in_chunks, out, out_chunks)
                                      : all_to_all_pairwise(comm, in, in_chunks, out, out_chunks);
  });
}

}  // namespace shoal::detail

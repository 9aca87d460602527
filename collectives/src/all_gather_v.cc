#include "shoal/collectives/all_gather_v.h"

#include "algorithms.h"
#include "arguments.h"
#include "scratch.h"
#include "selection.h"

namespace shoal::detail {

void all_gather_v(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
                  std::span<const std::size_t> counts, DataType type, const Options& options) {
  Call call{.operation = Operation::all_gather_v, .type = type, .count = elements_in(out.size(), type)};
  check_counts(comm, call, "counts", counts, "out", out);
  check_own_count(comm, call, "in", in, "counts", counts);
  const Chunks chunks(counts, element_bytes(type));
  const auto own = chunks.slice(out, comm.rank());
  if (in.data() != own.data()) check_apart(comm, call, in, out);
  select_algorithm(comm, call, options);
  call.steps = static_cast<std::uint32_t>(comm.size() - 1);

  // The lists themselves need not be compared: neighbours whose lists differ take two chunks at least for different
  // lengths, as the sums are the same, and only one chunk does not pass from the one to the other.
  comm.perform(call, options.timeout, [&] {
    copy_bytes(comm, in, own);
    all_gather_ring(comm, out, chunks);
  });
}

}  // namespace shoal::detail

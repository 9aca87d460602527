#include "shoal/collectives/all_to_all_v.h"

#include "algorithms.h"
#include "arguments.h"
#include "selection.h"

namespace shoal::detail {

void all_to_all_v(Communicator& comm, std::span<const std::byte> in, std::span<const std::size_t> send_counts,
                  std::span<std::byte> out, std::span<const std::size_t> receive_counts, DataType type,
                  const Options& options) {
  // Ranks may send different amounts, so there is no count to agree on: the lengths of the messages are compared.
  Call call{.operation = Operation::all_to_all_v, .type = type};
  check_counts(comm, call, "send_counts", send_counts, "in", in);
  check_counts(comm, call, "receive_counts", receive_counts, "out", out);
  const auto rank = static_cast<std::size_t>(comm.rank());
  if (send_counts[rank] != receive_counts[rank])
    comm.refuse(call, "receive_counts[" + std::to_string(rank) + "] is " + std::to_string(receive_counts[rank]) +
                          ", not " + std::to_string(send_counts[rank]) + ": what this rank sends to itself");
  check_apart(comm, call, in, out);
  select_algorithm(comm, call, options);
  call.steps = static_cast<std::uint32_t>(comm.size() - 1);

  comm.perform(call, options.timeout, [&] {
    all_to_all_pairwise(comm, in, Chunks(send_counts, element_bytes(type)), out,
                        Chunks(receive_counts, element_bytes(type)));
  });
}

}  // namespace shoal::detail

// All-reduce by slots: every rank copies its vector into its staging, reads those of all others, and combines all P along
// the canonical tree by itself. The operands are the same everywhere, so all ranks end with the same bits.
//
// 1 step, P-1 messages; for vectors that fit into the staging. A rank's vector is read by P-1 others: more bytes than the
// direct algorithm's, and one step instead of two.

#include <vector>

#include "algorithms.h"
#include "notices.h"

namespace shoal::detail {

void all_reduce_slots(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, ReduceOp op,
                      DataType type) {
  Notices notices(comm);
  comm.charge(read_by_all(comm, in.size()), 0);
  notices.arrive({.data = comm.size() == 1 ? 0 : stage(comm, in)});
  notices.await_all();
  std::vector<const std::byte*> operands(static_cast<std::size_t>(comm.size()));
  operands[static_cast<std::size_t>(comm.rank())] = in.data();
  visit_others(comm, [&](int rank) {
    operands[static_cast<std::size_t>(rank)] = comm.reach(notices.of(rank).data, in.size()).data();
    comm.charge(0, in.size());
  });
  combine_tree(comm, op, type, out, operands);
}

}  // namespace shoal::detail

#include "shoal/collectives/all_reduce.h"

#include "algorithms.h"
#include "arguments.h"
#include "notices.h"
#include "selection.h"

// all_reduce = reduce-scatter, by the algorithm that the call names, + all-gather; or reduce + broadcast, where it
// names binomial. There every element of the result is formed by one rank and copied by the others; by recursive
// doubling and by tiny all ranks form it from the same operands. So all end with the same bits.

namespace shoal::detail {
namespace {

Call call_of(std::span<const std::byte> in, DataType type, ReduceOp op) {
  return {.operation = Operation::all_reduce, .type = type, .reduce_op = op, .count = elements_in(in.size(), type)};
}

/// `in` may be the same bytes as `out`.
void run(Communicator& comm, Call call, std::span<const std::byte> in, std::span<std::byte> out,
         const Options& options) {
  select_algorithm(comm, call, call.count, options);
  comm.perform(call, options.timeout, [&] {
    if (call.algorithm == Algorithm::tiny) return all_reduce_tiny(comm, in, out, call.reduce_op, call.type);
    if (call.algorithm == Algorithm::slots)
      return all_reduce_slots(comm, in, out, call.reduce_op, call.type, showing_of(comm, call));
    if (call.algorithm == Algorithm::direct)
      return all_reduce_direct(comm, in, out, call.reduce_op, call.type, showing_of(comm, call));
    if (call.algorithm == Algorithm::recursive_doubling)
      return all_reduce_recursive_doubling(comm, in, out, call.reduce_op, call.type);
    if (call.algorithm == Algorithm::binomial) {
      const bool at_root = comm.rank() == 0;
      reduce_binomial(comm, in, at_root ? out : std::span<std::byte>{}, 0, call.reduce_op, call.type);
      return broadcast_binomial(comm, out, 0);
    }
    const Chunks chunks(Partition(call.count, comm.size()), element_bytes(call.type));
    reduce_scatter_by(call.algorithm, comm, in, chunks.slice(out, comm.rank()), chunks, call.reduce_op, call.type);
    if (call.algorithm == Algorithm::recursive_halving) {
      all_gather_recursive_doubling(comm, out, chunks);
    } else {
      all_gather_ring(comm, out, chunks);
    }
  });
}

}  // namespace

void all_reduce(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type, ReduceOp op,
                const Options& options) {
  const Call call = call_of(in, type, op);
  check_reduction(comm, call);
  check_elements(comm, call, "out", out, call.count, "it receives as many as in has");
  check_apart(comm, call, in, out);
  run(comm, call, in, out, options);
}

void all_reduce(Communicator& comm, std::span<std::byte> data, DataType type, ReduceOp op, const Options& options) {
  const Call call = call_of(data, type, op);
  check_reduction(comm, call);
  run(comm, call, data, data, options);
}

}  // namespace shoal::detail

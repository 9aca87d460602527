#include "shoal/collectives/reduce_scatter.h"

#include <cassert>

#include "algorithms.h"
#include "arguments.h"
#include "notices.h"
#include "selection.h"

namespace shoal::detail {
namespace {

Call call_of(std::span<const std::byte> in, DataType type, ReduceOp op) {
  return {.operation = Operation::reduce_scatter, .type = type, .reduce_op = op, .count = elements_in(in.size(), type)};
}

void run(Communicator& comm, Call call, std::span<const std::byte> in, std::span<std::byte> own,
         const Options& options) {
  select_algorithm(comm, call, call.count, options);
  comm.perform(call, options.timeout, [&] {
    const Chunks chunks(Partition(call.count, comm.size()), element_bytes(call.type));
    if (shows(call.algorithm))
      return reduce_scatter_direct(comm, in, own, chunks, call.reduce_op, call.type, showing_of(comm, call));
    reduce_scatter_by(call.algorithm, comm, in, own, chunks, call.reduce_op, call.type);
  });
}

}  // namespace

void reduce_scatter_by(Algorithm algorithm, Communicator& comm, std::span<const std::byte> in, std::span<std::byte> own,
                       const Chunks& chunks, ReduceOp op, DataType type) {
  if (algorithm == Algorithm::ring) {
    reduce_scatter_ring(comm, in, own, chunks, op, type);
  } else if (algorithm == Algorithm::recursive_halving) {
    reduce_scatter_recursive_halving(comm, in, own, chunks, op, type);
  } else if (algorithm == Algorithm::tiny) {
    reduce_scatter_tiny(comm, in, own, chunks, op, type);
  } else {
    assert(algorithm == Algorithm::pairwise);
    reduce_scatter_pairwise(comm, in, own, chunks, op, type);
  }
}

void reduce_scatter(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, DataType type,
                    ReduceOp op, const Options& options) {
  const Call call = call_of(in, type, op);
  check_reduction(comm, call);
  check_elements(comm, call, "out", out, Partition(call.count, comm.size()).size(comm.rank()),
                 "the size of this rank's chunk of in");
  check_apart(comm, call, in, out);
  run(comm, call, in, out, options);
}

void reduce_scatter(Communicator& comm, std::span<std::byte> data, DataType type, ReduceOp op, const Options& options) {
  const Call call = call_of(data, type, op);
  check_reduction(comm, call);
  const Partition chunks(call.count, comm.size());
  run(comm, call, data, chunks.slice_bytes(data, comm.rank(), element_bytes(type)), options);
}

}  // namespace shoal::detail

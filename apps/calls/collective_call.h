#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "shoal/shoal.h"

namespace shoal::calls {

/// One call of a collective that all ranks make. The root of those that have one is rank 0.
struct CollectiveCall {
  Operation operation = Operation::all_reduce;
  Algorithm algorithm = Algorithm::automatic;
  DataType type = DataType::f32;
  std::uint64_t count = 0;  ///< Elements of the whole vector, as CostQuery counts them.
  ReduceOp reduce_op = ReduceOp::sum;
  bool in_place = false;  ///< Where has_in_place_form(operation).
};

/// all_reduce and reduce_scatter within `in`; all_gather within `out`.
bool has_in_place_form(Operation operation);

/// Elements of the two buffers that a rank passes; 0 for one that it does not have.
struct BufferSizes {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};
BufferSizes buffer_sizes(const CollectiveCall& call, int ranks, int rank);

/// What the closed form says of the call. Throws as cost().
Cost predicted_cost(const CollectiveCall& call, int ranks, int rank);

/// --algorithm: the one named, or `auto`. Throws UsageError.
Algorithm algorithm_option(const std::string& text);
/// Throws UsageError, naming --algorithm, if the call's algorithm cannot do it in a world of `ranks`.
void refuse_impossible(const CollectiveCall& call, int ranks);

/// Which algorithm a ledger with calls of that operation by one algorithm shows: "all_reduce:ring".
Algorithm algorithm_in(const Traffic& traffic, Operation operation);

/// Makes the call as one rank, with buffers of buffer_sizes() and type call.type.
template <class T>
void make_call(Communicator& comm, const CollectiveCall& call, std::span<T> in, std::span<T> out) {
  const Options options{.algorithm = call.algorithm};
  switch (call.operation) {
    case Operation::barrier:
      return barrier(comm, options);
    case Operation::broadcast:
      return broadcast(comm, in, 0, options);
    case Operation::reduce:
      return reduce(comm, in, out, call.reduce_op, 0, options);
    case Operation::all_reduce:
      return call.in_place ? all_reduce(comm, in, call.reduce_op, options)
                           : all_reduce(comm, in, out, call.reduce_op, options);
    case Operation::reduce_scatter:
      if (!call.in_place) return reduce_scatter(comm, in, out, call.reduce_op, options);
      reduce_scatter(comm, in, call.reduce_op, options);
      return;
    case Operation::all_gather:
      return all_gather(comm, call.in_place ? Partition(out.size(), comm.size()).slice(out, comm.rank()) : in, out,
                        options);
    case Operation::gather:
      return gather(comm, in, out, 0, options);
    case Operation::scatter:
      return scatter(comm, in, out, 0, options);
    case Operation::scatter_cyclic:
      return scatter_cyclic(comm, in, out, 0, options);
    case Operation::all_to_all:
      return all_to_all(comm, in, out, options);
    default:
      throw Error(ErrorCode::invalid_argument,
                  std::string(name(call.operation)) + " is not described by the size of one vector");
  }
}

}  // namespace shoal::calls

#include "sim/phantom_call.h"

#include <array>

#include "calls/with_type.h"

namespace shoal::sim {
namespace {

constexpr std::array kOperations{Operation::barrier,    Operation::broadcast,      Operation::reduce,
                                 Operation::all_reduce, Operation::reduce_scatter, Operation::all_gather,
                                 Operation::gather,     Operation::scatter,        Operation::scatter_cyclic,
                                 Operation::all_to_all};

constexpr std::uint64_t kLargestElement = 8;

}  // namespace

std::span<const Operation> phantom_operations() { return kOperations; }

// all_to_all receives the longest chunk from every rank: up to an element a rank more than it starts from.
PhantomData::PhantomData(std::uint64_t count, int ranks)
    : in_(count * kLargestElement), out_((count + static_cast<std::uint64_t>(ranks)) * kLargestElement) {}

void make_call(Communicator& comm, PhantomCall call, const PhantomData& data) {
  call.in_place = call.operation == Operation::all_reduce;
  const calls::BufferSizes sizes = calls::buffer_sizes(call, comm.size(), comm.rank());
  calls::with_type(call.type,
                   [&]<class T>() { calls::make_call(comm, call, data.in<T>(sizes.in), data.out<T>(sizes.out)); });
}

SimulationOptions prediction_options() {
  return {.schedule = SimulationOptions::Schedule::in_order,
          .channel_bytes = SimulationOptions::kUnbounded,
          .phantom = true};
}

}  // namespace shoal::sim

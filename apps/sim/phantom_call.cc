#include "sim/phantom_call.h"

#include <algorithm>
#include <array>

#include "calls/with_type.h"

namespace shoal::sim {
namespace {

constexpr std::array kOperations{Operation::barrier,    Operation::broadcast,      Operation::reduce,
                                 Operation::all_reduce, Operation::reduce_scatter, Operation::all_gather,
                                 Operation::gather,     Operation::scatter,        Operation::scatter_cyclic,
                                 Operation::all_to_all};

}  // namespace

std::span<const Operation> phantom_operations() { return kOperations; }

// all_to_all receives the longest chunk from every rank: up to an element a rank more than it starts from.
PhantomData::PhantomData(std::uint64_t count, int ranks, DataType type)
    : in_(count * element_bytes(type)), out_((count + static_cast<std::uint64_t>(ranks)) * element_bytes(type)) {}

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

void expect_success(const SimulationResult& run) {
  const auto is_its_own = [](const SimulatedRank& rank) {
    return !rank.error.empty() && rank.error_code != ErrorCode::broken && rank.error_code != ErrorCode::peer_lost;
  };
  auto culprit = std::ranges::find_if(run.ranks, is_its_own);
  if (culprit == run.ranks.end())
    culprit = std::ranges::find_if(run.ranks, [](const SimulatedRank& rank) { return !rank.error.empty(); });
  if (culprit == run.ranks.end()) return;
  const bool own = is_its_own(*culprit);  // Nobody else tells it: a program keeps silent on what its peers tell.
  throw Error(own ? culprit->error_code.value_or(ErrorCode::system) : ErrorCode::system, culprit->error);
}

}  // namespace shoal::sim

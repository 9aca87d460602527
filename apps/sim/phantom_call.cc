#include "sim/phantom_call.h"

#include <algorithm>
#include <array>
#include <string>

namespace shoal::sim {
namespace {

constexpr std::array kOperations{Operation::barrier,    Operation::broadcast,      Operation::reduce,
                                 Operation::all_reduce, Operation::reduce_scatter, Operation::all_gather,
                                 Operation::gather,     Operation::scatter,        Operation::scatter_cyclic,
                                 Operation::all_to_all};

template <class T>
void make_call_of(Communicator& comm, const PhantomCall& call, const PhantomData& data) {
  const Options options{.algorithm = call.algorithm};
  const std::uint64_t whole = call.count;
  const std::uint64_t own = Partition(whole, comm.size()).size(comm.rank());
  const std::uint64_t at_root = comm.rank() == 0 ? whole : 0;
  switch (call.operation) {
    case Operation::barrier:
      return barrier(comm, options);
    case Operation::broadcast:
      return broadcast(comm, data.in<T>(whole), 0, options);
    case Operation::reduce:
      return reduce(comm, data.in<T>(whole), data.out<T>(at_root), ReduceOp::sum, 0, options);
    case Operation::all_reduce:
      return all_reduce(comm, data.in<T>(whole), ReduceOp::sum, options);
    case Operation::reduce_scatter:
      return reduce_scatter(comm, data.in<T>(whole), data.out<T>(own), ReduceOp::sum, options);
    case Operation::all_gather:
      return all_gather(comm, data.in<T>(own), data.out<T>(whole), options);
    case Operation::gather:
      return gather(comm, data.in<T>(own), data.out<T>(at_root), 0, options);
    case Operation::scatter:
      return scatter(comm, data.in<T>(at_root), data.out<T>(own), 0, options);
    case Operation::scatter_cyclic:
      return scatter_cyclic(comm, data.in<T>(at_root), data.out<T>(own), 0, options);
    case Operation::all_to_all:
      return all_to_all(comm, data.in<T>(whole), data.out<T>(own * static_cast<std::uint64_t>(comm.size())), options);
    default:
      throw Error(ErrorCode::invalid_argument, std::string(name(call.operation)) + " cannot be made without data");
  }
}

}  // namespace

std::span<const Operation> phantom_operations() { return kOperations; }

// all_to_all receives the longest chunk from every rank: up to an element a rank more than it starts from.
PhantomData::PhantomData(std::uint64_t count, int ranks, DataType type)
    : in_(count * element_bytes(type)), out_((count + static_cast<std::uint64_t>(ranks)) * element_bytes(type)) {}

void make_call(Communicator& comm, const PhantomCall& call, const PhantomData& data) {
  if (call.type == DataType::f32) return make_call_of<float>(comm, call, data);
  if (call.type == DataType::f64) return make_call_of<double>(comm, call, data);
  throw Error(ErrorCode::invalid_argument, std::string(name(call.type)) + " calls are not made without data");
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

Cost predicted_cost(const PhantomCall& call, int ranks, int rank) {
  return cost({.operation = call.operation,
               .algorithm = call.algorithm,
               .count = call.count,
               .type = call.type,
               .ranks = ranks,
               .rank = rank,
               .root = 0});
}

}  // namespace shoal::sim

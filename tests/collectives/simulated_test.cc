// The algorithms as fibers of one process: under schedules and channel capacities that processes hardly ever meet, and
// in worlds larger than this machine would run. (Fibers share GoogleTest's stack of traces: where a check fails, the
// seed that is printed tells which run it was, and the trace may be another rank's.)

#include <numeric>

#include "moving_forms.h"
#include "reduction_forms.h"
#include "shoal/runtime/simulation.h"

namespace shoal::test {
namespace {

/// Every operation once by every algorithm that it has.
void expect_all_operations(Communicator& comm, std::size_t count) {
  const int root = static_cast<int>(count) % comm.size();
  barrier(comm);
  for (const Algorithm algorithm : ways_to(Operation::all_to_all)) expect_all_to_all<float>(comm, count, algorithm);
  for (const Algorithm algorithm : ways_to(Operation::broadcast)) expect_broadcast<float>(comm, count, root, algorithm);
  for (const Algorithm algorithm : ways_to(Operation::gather)) expect_gather<float>(comm, count, root, algorithm);
  for (const Algorithm algorithm : ways_to(Operation::scatter))
    expect_scatter<float>(comm, count, root, false, algorithm);
  for (const Algorithm algorithm : ways_to(Operation::scatter_cyclic))
    expect_scatter<float>(comm, count, root, true, algorithm);
  for (const Algorithm algorithm : ways_to(Operation::all_gather))
    for (const bool in_place : {false, true}) expect_all_gather<float>(comm, count, in_place, algorithm);
  for (const Algorithm algorithm : ways_to(Operation::all_reduce))
    expect_all_reduce<float>(comm, count, ReduceOp::mean, algorithm);
  for (const Algorithm algorithm : ways_to(Operation::reduce_scatter))
    expect_reduce_scatter<float>(comm, count, ReduceOp::sum, algorithm);
  for (const Algorithm algorithm : ways_to(Operation::reduce))
    expect_reduce<float>(comm, count, ReduceOp::mean, algorithm, root);
}

class Simulated : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, Simulated, testing::Range(1, 18), world_name);

TEST_P(Simulated, EveryOperationIsRightWhateverTheScheduleAndTheChannel) {
  // 0: nothing moves before the receiver is there, so that no algorithm may count on a send to be buffered.
  for (const std::uint64_t channel_bytes : {0U, 16U, 4096U}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto result = simulate(GetParam(),
                                   [&](Communicator& comm) {
                                     for (const std::size_t count : counts_around(comm.size()))
                                       if (count < 300) expect_all_operations(comm, count);
                                   },
                                   {.seed = seed, .channel_bytes = channel_bytes});
      ASSERT_TRUE(result.ok() && !HasFailure()) << "channel of " << channel_bytes << " bytes\n" << result;
    }
  }
}

TEST(SimulatedRounds, OfThePairwiseAlgorithmFitTogetherWithoutBuffers) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto result = simulate(3,
                                 [](Communicator& comm) {
                                   expect_all_reduce<float>(comm, 3 * 8192 * 2 + 1, ReduceOp::sum, {});
                                   expect_reduce<double>(comm, 3 * 4096 + 2, ReduceOp::mean, {}, 1);
                                 },
                                 {.seed = seed, .channel_bytes = 0});
    ASSERT_TRUE(result.ok() && !HasFailure()) << result;
  }
}

/// One call of `operation` with the least data that its arguments need, to be run on phantom messages.
void make_call(Communicator& comm, Operation operation, Algorithm algorithm, std::size_t count, int root) {
  const bool at_root = comm.rank() == root;
  const std::size_t own = Partition(count, comm.size()).size(comm.rank());
  const Options options{.algorithm = algorithm};
  std::vector<float> whole(count);
  std::vector<float> chunk(own);
  std::vector<float> other(operation == Operation::all_to_all ? own * static_cast<std::size_t>(comm.size()) : count);
  const std::span<float> none;
  switch (operation) {
    case Operation::barrier:
      return barrier(comm, options);
    case Operation::broadcast:
      return broadcast(comm, whole, root, options);
    case Operation::reduce:
      return reduce(comm, whole, at_root ? std::span(other) : none, ReduceOp::sum, root, options);
    case Operation::all_reduce:
      return all_reduce(comm, whole, ReduceOp::sum, options);
    case Operation::reduce_scatter:
      return reduce_scatter(comm, whole, chunk, ReduceOp::sum, options);
    case Operation::all_gather:
      return all_gather(comm, chunk, whole, options);
    case Operation::gather:
      return gather(comm, chunk, at_root ? std::span(whole) : none, root, options);
    case Operation::scatter:
      return scatter(comm, at_root ? std::span(whole) : none, chunk, root, options);
    case Operation::scatter_cyclic:
      return scatter_cyclic(comm, at_root ? std::span(whole) : none, chunk, root, options);
    case Operation::all_to_all:
      return all_to_all(comm, whole, other, options);
    default:
      FAIL() << name(operation);
  }
}

/// Runs the call at `world` ranks and compares each rank's bytes and steps with the closed form.
void expect_closed_form(Operation operation, Algorithm algorithm, int world, std::size_t count) {
  const int root = world / 3;
  const auto result = simulate(world, [&](Communicator& comm) { make_call(comm, operation, algorithm, count, root); },
                               {.schedule = SimulationOptions::Schedule::in_order,
                                .channel_bytes = SimulationOptions::kUnbounded,
                                .phantom = true});
  ASSERT_TRUE(result.ok()) << result;
  for (int rank = 0; rank < world; ++rank) {
    const SimulatedRank& ran = result.ranks[static_cast<std::size_t>(rank)];
    const Cost predicted = cost(
        {.operation = operation, .algorithm = algorithm, .count = count, .ranks = world, .rank = rank, .root = root});
    EXPECT_EQ(
        (Cost{
            .sent = ran.traffic.sent, .received = ran.traffic.received, .steps = ran.steps, .messages = ran.messages}),
        predicted)
        << name(operation) << " by " << name(algorithm) << ", rank " << rank << " of " << world << ", count " << count;
  }
}

TEST(ClosedForm, IsWhatTheAlgorithmsMoveAndHowManyStepsTheyTakeAtAnyWorldSize) {
  std::vector<int> worlds(20);
  std::iota(worlds.begin(), worlds.end(), 1);
  worlds.insert(worlds.end(), {31, 64, 100});
  for (const int world : worlds) {
    const auto p = static_cast<std::size_t>(world);
    for (const Operation operation :
         {Operation::barrier, Operation::broadcast, Operation::reduce, Operation::all_reduce, Operation::reduce_scatter,
          Operation::all_gather, Operation::gather, Operation::scatter, Operation::scatter_cyclic,
          Operation::all_to_all}) {
      for (const Algorithm algorithm : detail::algorithms_of(operation))
        for (const std::size_t count : {std::size_t{0}, p - 1, 10 * p, 10 * p + 1, 8192 * p + p / 2})
          if (count * p < 20'000'000 && takes(algorithm, operation, world, count, sizeof(float)))
            expect_closed_form(operation, algorithm, world, count);
    }
  }
}

}  // namespace
}  // namespace shoal::test

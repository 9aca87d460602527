#pragma once

#include <cstdint>
#include <span>

#include "shoal/shoal.h"
#include "shoal/simulation.h"

namespace shoal::sim {

/// The operations that can be made without data, and have a closed form.
std::span<const Operation> phantom_operations();

/// One call that all ranks make. The root of those that have one is rank 0.
struct PhantomCall {
  Operation operation = Operation::all_reduce;
  Algorithm algorithm = Algorithm::automatic;
  DataType type = DataType::f32;  ///< Or f64.
  std::uint64_t count = 0;        ///< Elements of the whole vector, as CostQuery counts them.
};

/// The addresses that stand for the data of all ranks: one set, as nobody reads or writes them.
class PhantomData {
 public:
  /// Enough for calls of up to `count` elements of the size of this type, in a world of `ranks`.
  PhantomData(std::uint64_t count, int ranks, DataType type);

  template <class T>
  std::span<T> in(std::uint64_t count) const {
    return in_.as<T>(count);
  }
  template <class T>
  std::span<T> out(std::uint64_t count) const {
    return out_.as<T>(count);
  }

 private:
  PhantomBuffer in_;
  PhantomBuffer out_;
};

/// Makes the call as one rank of a simulation without data.
void make_call(Communicator& comm, const PhantomCall& call, const PhantomData& data);

/// How predictions are run: whole messages, nobody waits for room, ranks go on in the order in which they can.
SimulationOptions prediction_options();

/// Throws what ended a simulated run, unless it went well: of the ranks' errors the one that is not hearsay.
void expect_success(const SimulationResult& run);

/// What the closed form says of the same call.
Cost predicted_cost(const PhantomCall& call, int ranks, int rank);

}  // namespace shoal::sim

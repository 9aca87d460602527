#pragma once

#include <cstdint>
#include <span>

#include "calls/collective_call.h"
#include "shoal/shoal.h"
#include "shoal/simulation.h"

namespace shoal::sim {

/// The operations that can be made without data, and have a closed form.
std::span<const Operation> phantom_operations();

/// all_reduce in place, the others not: `in_place` is not asked.
using PhantomCall = calls::CollectiveCall;

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
void make_call(Communicator& comm, PhantomCall call, const PhantomData& data);

/// How predictions are run: whole messages, nobody waits for room, ranks go on in the order in which they can.
SimulationOptions prediction_options();

/// Throws what ended a simulated run, unless it went well: of the ranks' errors the one that is not hearsay.
void expect_success(const SimulationResult& run);

}  // namespace shoal::sim

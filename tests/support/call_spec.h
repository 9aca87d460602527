#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shoal/runtime/operation.h"

namespace shoal::test {

/// One collective call that all ranks make, on values that `seed` decides.
struct CallSpec {
  Operation operation = Operation::barrier;
  Algorithm algorithm = Algorithm::automatic;
  int ranks = 1;
  std::size_t count = 0;  ///< As CostQuery has it; v-operations draw lengths that are count / ranks on average.
  int root = 0;           ///< Of operations that have one.
  DataType type = DataType::u32;
  ReduceOp reduce_op = ReduceOp::sum;
  bool in_place = false;  ///< Where the operation can be.
  std::uint64_t seed = 0;
};
std::string text_of(const CallSpec& spec);

/// Every operation that has algorithms.
std::vector<Operation> operations();
bool has_root(Operation operation);

}  // namespace shoal::test

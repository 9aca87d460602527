#include "bench/operations.h"

#include <array>

namespace shoal::bench {
namespace {

constexpr std::array kOperations{Operation::barrier,    Operation::broadcast,      Operation::reduce,
                                 Operation::all_reduce, Operation::reduce_scatter, Operation::all_gather,
                                 Operation::all_to_all, Operation::gather,         Operation::scatter};

}  // namespace

std::span<const Operation> operations() { return kOperations; }

bool has_data(Operation operation) { return operation != Operation::barrier; }

bool is_cut(Operation operation) {
  return has_data(operation) && operation != Operation::broadcast && operation != Operation::reduce &&
         operation != Operation::all_reduce;
}

double bus_factor(Operation operation, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  if (operation == Operation::all_reduce) return 2 * others;
  return is_cut(operation) ? others : 1;
}

}  // namespace shoal::bench

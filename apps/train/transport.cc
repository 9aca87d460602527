#include "train/transport.h"

#include "program/program.h"

namespace shoal::train {
namespace {

bool can_do(Algorithm algorithm, Operation operation) {
  try {
    cost({.operation = operation, .algorithm = algorithm, .count = 1, .type = DataType::f32, .ranks = 2});
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

GradientAlgorithms choose_algorithms(Algorithm wanted, int stage) {
  GradientAlgorithms algorithms;
  if (wanted == Algorithm::automatic) return algorithms;
  const Operation reduction = stage == 0 ? Operation::all_reduce : Operation::reduce_scatter;
  const bool reduces = can_do(wanted, reduction);
  const bool gathers = stage > 0 && can_do(wanted, Operation::all_gather);
  if (!reduces && !gathers)
    throw UsageError("--algorithm " + std::string(name(wanted)) + ": cannot do " + std::string(name(reduction)) +
                     (stage > 0 ? " or all_gather" : "") + ", which stage " + std::to_string(stage) + " uses");
  if (reduces) algorithms.reduction = wanted;
  if (gathers) algorithms.all_gather = wanted;
  return algorithms;
}

void Transport::all_reduce(std::span<float> data) {
  timed([&] { shoal::all_reduce(*comm_, data, ReduceOp::sum, {.algorithm = algorithms_.reduction}); });
}

std::span<float> Transport::reduce_scatter(std::span<float> data) {
  std::span<float> own;
  timed([&] { own = shoal::reduce_scatter(*comm_, data, ReduceOp::sum, {.algorithm = algorithms_.reduction}); });
  return own;
}

}  // namespace shoal::train

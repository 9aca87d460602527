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

template <class Call>
void Transport::timed(Call&& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  time_ += std::chrono::steady_clock::now() - start;
}

void Transport::all_reduce(std::span<float> data) {
  timed([&] { shoal::all_reduce(*comm_, data, ReduceOp::sum, {.algorithm = algorithms_.reduction}); });
}

std::span<float> Transport::reduce_scatter(std::span<float> data) {
  std::span<float> own;
  timed([&] { own = shoal::reduce_scatter(*comm_, data, ReduceOp::sum, {.algorithm = algorithms_.reduction}); });
  return own;
}

void Transport::all_gather(std::span<float> data) {
  all_gather(Partition(data.size(), size()).slice(data, rank()), data);
}

void Transport::all_gather(std::span<const float> own, std::span<float> data) {
  timed([&] { shoal::all_gather(*comm_, own, data, {.algorithm = algorithms_.all_gather}); });
}

double Transport::sum(double value) {
  timed([&] { shoal::all_reduce(*comm_, std::span(&value, 1), ReduceOp::sum); });
  return value;
}

}  // namespace shoal::train

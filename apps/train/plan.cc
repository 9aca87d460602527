// The bytes of a run, before it is run: the list of its collective calls, each costed by its closed form.

#include "train/plan.h"

#include "train/evaluate.h"

namespace shoal::train {
namespace {

std::vector<std::uint64_t> layer_sizes(const std::vector<std::size_t>& dims) {
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) sizes.push_back((dims[i] + 1) * dims[i + 1]);
  return sizes;
}

/// Every layer gathered, so many times.
void add_gathers(std::vector<PlannedCall>& calls, const RunPlan& plan, std::uint64_t times) {
  for (const std::uint64_t size : layer_sizes(plan.dims))
    calls.push_back({Operation::all_gather, plan.algorithms.all_gather, DataType::f32, size, times});
}

/// A pass over `samples` and the sum of the counts.
void add_evaluation(std::vector<PlannedCall>& calls, const RunPlan& plan, std::size_t samples) {
  if (plan.stage == 3) add_gathers(calls, plan, evaluation_rounds(samples, plan.ranks));
  calls.push_back({.operation = Operation::all_reduce, .type = DataType::i64, .count = 1});
}

}  // namespace

std::vector<PlannedCall> training_calls(const RunPlan& plan) {
  std::vector<PlannedCall> calls;
  calls.push_back(
      {.operation = Operation::all_reduce, .type = DataType::f64, .count = 1, .times = plan.steps});  // Loss.
  const Operation reduction = plan.stage == 0 ? Operation::all_reduce : Operation::reduce_scatter;
  for (const std::uint64_t size : layer_sizes(plan.dims))
    calls.push_back({reduction, plan.algorithms.reduction, DataType::f32, size, plan.steps});
  // Stages 1 and 2 gather what the shards' optimizers have updated, stage 3 what forward and backward need.
  if (plan.stage == 1 || plan.stage == 2) add_gathers(calls, plan, plan.steps);
  if (plan.stage == 3) add_gathers(calls, plan, 2 * plan.steps);
  return calls;
}

std::vector<PlannedCall> other_calls(const RunPlan& plan) {
  std::vector<PlannedCall> calls;
  const auto from_rank_0 = [&](DataType type, std::uint64_t count) {
    calls.push_back({.operation = Operation::broadcast, .type = type, .count = count});
  };
  from_rank_0(DataType::i64, kDataHeader);
  for (const std::size_t samples : {plan.train_samples, plan.test_samples}) {
    from_rank_0(DataType::u8, samples * plan.dims.front());
    if (plan.has_labels) from_rank_0(DataType::u8, samples);
  }
  if (plan.has_labels) {
    add_evaluation(calls, plan, plan.train_samples);
    add_evaluation(calls, plan, plan.test_samples);
  }
  if (plan.stage == 3) add_gathers(calls, plan, 1);  // The hash.
  return calls;
}

OperationLedger predict(std::span<const PlannedCall> calls, int rank, int ranks, const Calibration& calibration) {
  OperationLedger ledger;
  for (const PlannedCall& call : calls) {
    const Cost once = cost({.operation = call.operation,
                            .algorithm = call.algorithm,
                            .count = call.count,
                            .type = call.type,
                            .ranks = ranks,
                            .rank = rank,
                            .root = 0,
                            .calibration = calibration});
    ledger[call.operation] +=
        {.calls = call.times, .sent = once.sent * call.times, .received = once.received * call.times};
  }
  return ledger;
}

}  // namespace shoal::train

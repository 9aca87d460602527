// The bytes of a run, before it is run: the list of its collective calls, each costed by its closed form.

#include "train/plan.h"

#include "train/checkpoints.h"
#include "train/evaluate.h"

namespace shoal::train {
namespace {

std::vector<std::uint64_t> layer_sizes(const std::vector<std::size_t>& dims) {
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) sizes.push_back((dims[i] + 1) * dims[i + 1]);
  return sizes;
}

std::uint64_t parameters_of(const std::vector<std::size_t>& dims) {
  std::uint64_t parameters = 0;
  for (const std::uint64_t size : layer_sizes(dims)) parameters += size;
  return parameters;
}

/// Of the working parameters.
DataType type_of(Precision precision) { return precision == Precision::f32 ? DataType::f32 : DataType::bf16; }

/// Every layer gathered, so many times.
void add_gathers(std::vector<PlannedCall>& calls, const RunPlan& plan, DataType type, std::uint64_t times) {
  if (times == 0) return;
  for (const std::uint64_t size : layer_sizes(plan.dims))
    calls.push_back({Operation::all_gather, plan.algorithms.all_gather, type, size, times});
}

void add_gathers(std::vector<PlannedCall>& calls, const RunPlan& plan, std::uint64_t times) {
  add_gathers(calls, plan, type_of(plan.precision), times);
}

bool gathers_updates(const RunPlan& plan) { return plan.stage == 1 || plan.stage == 2; }

void add_small(std::vector<PlannedCall>& calls, DataType type, std::uint64_t count, std::uint64_t times) {
  if (times > 0) calls.push_back({.operation = Operation::all_reduce, .type = type, .count = count, .times = times});
}

/// A pass over `samples` and the sum of the counts.
void add_evaluation(std::vector<PlannedCall>& calls, const RunPlan& plan, std::size_t samples) {
  if (plan.stage == 3) add_gathers(calls, plan, evaluation_rounds(samples, plan.ranks));
  add_small(calls, DataType::i64, 1, 1);
}

}  // namespace

std::uint64_t saves_between(std::uint64_t first, std::uint64_t last, std::uint64_t every) {
  if (last <= first) return 0;
  if (every == 0) return 1;
  return last / every - first / every + (last % every == 0 ? 0 : 1);
}

std::vector<PlannedCall> training_calls(const RunPlan& plan) {
  std::vector<PlannedCall> calls;
  add_small(calls, DataType::f64, 2, plan.steps);  // The loss, and whether to stop.
  const Operation reduction = plan.stage == 0 ? Operation::all_reduce : Operation::reduce_scatter;
  if (plan.rounds > 0)
    for (const std::uint64_t size : layer_sizes(plan.dims))
      calls.push_back({reduction, plan.algorithms.reduction, DataType::f32, size, plan.rounds});
  // Stages 1 and 2 gather what the shards' optimizers have updated, stage 3 what forward and backward need.
  if (gathers_updates(plan)) add_gathers(calls, plan, plan.updates);
  if (plan.stage == 3) add_gathers(calls, plan, 2 * plan.rounds);
  if (plan.clips && plan.stage > 0) {
    add_small(calls, DataType::i64, 1, plan.updates);  // The scale of the norm's squares,
    add_small(calls, DataType::u64, 4, plan.updates);  // and their sum.
  }
  return calls;
}

std::vector<PlannedCall> other_calls(const RunPlan& plan) {
  std::vector<PlannedCall> calls;
  const auto from_rank_0 = [&](DataType type, std::uint64_t count) {
    calls.push_back({.operation = Operation::broadcast, .type = type, .count = count});
  };
  from_rank_0(DataType::i64, kDataHeader);
  for (const std::size_t samples : {plan.train_samples, plan.test_samples}) {
    from_rank_0(plan.data_type, samples * plan.features);
    if (plan.has_labels) from_rank_0(DataType::u8, samples);
  }
  if (plan.opens_checkpoints) {
    add_small(calls, DataType::i64, 1, 1);  // Agreement, and the step that rank 0 found.
    from_rank_0(DataType::i64, 1);
  }
  if (plan.resumes) add_small(calls, DataType::i64, 1, 1);
  if (plan.saves > 0) {
    add_small(calls, DataType::i64, 1, 3 * plan.saves);
    calls.push_back({.operation = Operation::gather,
                     .type = DataType::u8,
                     .count = Checkpoints::kFileRecord * static_cast<std::uint64_t>(plan.ranks),
                     .times = plan.saves});
  }
  if (plan.reads_start) from_rank_0(DataType::f32, parameters_of(plan.dims));
  if (gathers_updates(plan)) add_gathers(calls, plan, 1);  // The start, or what a checkpoint had.
  if (plan.has_labels && plan.evaluates) {
    add_evaluation(calls, plan, plan.train_samples);
    if (plan.test_samples > 0) add_evaluation(calls, plan, plan.test_samples);
  }
  const bool hash_gathers = plan.precision == Precision::f32 ? plan.stage == 3 : plan.stage > 0;
  if (hash_gathers) add_gathers(calls, plan, DataType::f32, plan.exports ? 2 : 1);
  if (plan.exports) add_small(calls, DataType::i64, 1, 1);
  return calls;
}

StateBytes state_bytes(const RunPlan& plan, int rank) {
  std::uint64_t own = 0;
  for (const std::uint64_t size : layer_sizes(plan.dims)) own += Partition(size, plan.ranks).size(rank);
  const auto held = [&](int sharded_from) { return plan.stage >= sharded_from ? own : parameters_of(plan.dims); };
  const bool has_masters = plan.precision == Precision::bf16;
  return {.parameter = (has_masters ? sizeof(bf16) : sizeof(float)) * held(3),
          .gradient = sizeof(float) * held(2),
          .optimizer = sizeof(float) * (plan.moments + (has_masters ? 1 : 0)) * held(1)};
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

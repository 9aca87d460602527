#include "train/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "program/program.h"
#include "train/evaluate.h"

namespace shoal::train {
namespace {

constexpr std::uint64_t kSteps = 5;
constexpr std::uint64_t kFloat = 4;  // Bytes.

// 3-2-1: layers of 8 and 3 parameters. Over 3 ranks the chunks are 3, 3, 2 and 1, 1, 1.
RunPlan tiny(int stage) {
  return {.dims = {3, 2, 1},
          .stage = stage,
          .ranks = 3,
          .algorithms = {},
          .steps = kSteps,
          .rounds = kSteps,
          .updates = kSteps,
          .features = 3,
          .train_samples = 10,
          .test_samples = 4};
}

OperationLedger of_rank(int rank, int stage) { return predict(training_calls(tiny(stage)), rank, 3); }

TEST(Plan, ReduceScatterSendsTheLayersLessTheOwnChunks) {
  for (const int stage : {1, 2, 3}) {
    // Sent: 8 - 3 and 3 - 1 elements of 4 bytes in each of 5 steps; received: the own chunk from two others.
    EXPECT_EQ(of_rank(0, stage)[Operation::reduce_scatter],
              (TrafficCount{10, kSteps * kFloat * (5 + 2), kSteps * kFloat * (6 + 2)}));
    EXPECT_EQ(of_rank(1, stage)[Operation::reduce_scatter],
              (TrafficCount{10, kSteps * kFloat * (5 + 2), kSteps * kFloat * (6 + 2)}));
    EXPECT_EQ(of_rank(2, stage)[Operation::reduce_scatter],
              (TrafficCount{10, kSteps * kFloat * (6 + 2), kSteps * kFloat * (4 + 2)}));
  }
}

TEST(Plan, RingAllGatherSendsTheLayersLessTheRightNeighboursChunks) {
  EXPECT_EQ(of_rank(0, 2)[Operation::all_gather],
            (TrafficCount{10, kSteps * kFloat * (5 + 2), kSteps * kFloat * (5 + 2)}));
  EXPECT_EQ(of_rank(1, 2)[Operation::all_gather],
            (TrafficCount{10, kSteps * kFloat * (6 + 2), kSteps * kFloat * (5 + 2)}));
  EXPECT_EQ(of_rank(2, 2)[Operation::all_gather],
            (TrafficCount{10, kSteps * kFloat * (5 + 2), kSteps * kFloat * (6 + 2)}));
}

TEST(Plan, Stage3GathersTwiceAStep) {
  EXPECT_EQ(of_rank(1, 3)[Operation::all_gather],
            (TrafficCount{20, 2 * kSteps * kFloat * (6 + 2), 2 * kSteps * kFloat * (5 + 2)}));
}

/// What moves gradients and parameters; the loss, a double, goes by whatever all_reduce takes for one.
std::vector<PlannedCall> without_loss(std::vector<PlannedCall> calls) {
  std::erase_if(calls, [](const PlannedCall& call) { return call.type == DataType::f64; });
  return calls;
}

TEST(Plan, Stage0AllReducesEachLayerInTwoHalves) {
  const auto of_gradients = [](int rank) { return predict(without_loss(training_calls(tiny(0))), rank, 3); };
  EXPECT_EQ(of_gradients(0)[Operation::all_reduce],
            (TrafficCount{10, kSteps * kFloat * (7 + 7), kSteps * kFloat * (8 + 7)}));
  EXPECT_EQ(of_gradients(2)[Operation::all_reduce],
            (TrafficCount{10, kSteps * kFloat * (8 + 7), kSteps * kFloat * (6 + 8)}));
  EXPECT_EQ(of_gradients(0)[Operation::all_gather], TrafficCount{});
}

TEST(Plan, TheLossAndTheWishToStopAreTwoDoublesAStep) {
  for (int stage = 0; stage <= 3; ++stage) {
    const auto calls = training_calls(tiny(stage));
    const auto loss =
        std::find_if(calls.begin(), calls.end(), [](const PlannedCall& call) { return call.type == DataType::f64; });
    ASSERT_NE(loss, calls.end());
    EXPECT_EQ(loss->operation, Operation::all_reduce);
    EXPECT_EQ(loss->count, 2U);
    EXPECT_EQ(loss->times, kSteps);
    EXPECT_EQ(without_loss(calls).size() + 1, calls.size());
  }
}

TEST(Plan, GradientsAndParametersMoveTwoOrThreeTimesTheForeignParts) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (int stage = 0; stage <= 3; ++stage) {
      RunPlan plan = tiny(stage);
      plan.ranks = ranks;
      std::uint64_t sent = 0;
      std::uint64_t received = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto calls = without_loss(training_calls(plan));
        sent += predict(calls, rank, ranks).total().sent;
        received += predict(calls, rank, ranks).total().received;
      }
      // Over all ranks (P-1)/P of P times the vector for each half: (P-1) times the 11 parameters' 44 bytes.
      const std::uint64_t halves = stage == 3 ? 3 : 2;
      EXPECT_EQ(sent, kSteps * halves * static_cast<std::uint64_t>(ranks - 1) * 44)
          << ranks << " ranks, stage " << stage;
      EXPECT_EQ(received, sent);
    }
  }
}

TEST(Plan, RoundsAreReducedAndUpdatesGathered) {
  for (int stage = 0; stage <= 3; ++stage) {
    RunPlan plan = tiny(stage);
    plan.rounds = 3 * kSteps;
    plan.updates = kSteps - 1;
    const OperationLedger ledger = predict(training_calls(plan), 0, 3);
    const Operation reduction = stage == 0 ? Operation::all_reduce : Operation::reduce_scatter;
    EXPECT_EQ(ledger[reduction].calls, 2 * 3 * kSteps + (stage == 0 ? kSteps : 0));
    const std::uint64_t gathers = stage == 0 ? 0 : stage == 3 ? 2 * 3 * kSteps : kSteps - 1;
    EXPECT_EQ(ledger[Operation::all_gather].calls, 2 * gathers);
  }
}

TEST(Plan, Bf16HalvesTheParametersOnTheWireAndNotTheGradients) {
  for (int stage = 1; stage <= 3; ++stage) {
    RunPlan plan = tiny(stage);
    const OperationLedger full = predict(training_calls(plan), 1, 3);
    plan.precision = Precision::bf16;
    const OperationLedger half = predict(training_calls(plan), 1, 3);
    EXPECT_EQ(half[Operation::reduce_scatter], full[Operation::reduce_scatter]);
    EXPECT_EQ(half[Operation::all_gather].calls, full[Operation::all_gather].calls);
    EXPECT_EQ(2 * half[Operation::all_gather].sent, full[Operation::all_gather].sent);
  }
}

TEST(Plan, ClippingAddsAnIntegerAndASumOfFourWhereGradientsAreSharded) {
  for (int stage = 0; stage <= 3; ++stage) {
    RunPlan plan = tiny(stage);
    const OperationLedger without = predict(training_calls(plan), 0, 3);
    plan.clips = true;
    EXPECT_EQ(predict(training_calls(plan), 0, 3)[Operation::all_reduce].calls,
              without[Operation::all_reduce].calls + (stage == 0 ? 0 : 2 * kSteps));
  }
}

// 11 parameters, of which rank 1 of 3 owns 3 + 1.
TEST(Plan, StateIsWhatTheStageShards) {
  for (int stage = 0; stage <= 3; ++stage) {
    RunPlan plan = tiny(stage);
    EXPECT_EQ(state_bytes(plan, 1).parameter, 4 * (stage == 3 ? 4U : 11U));
    EXPECT_EQ(state_bytes(plan, 1).gradient, 4 * (stage >= 2 ? 4U : 11U));
    EXPECT_EQ(state_bytes(plan, 1).optimizer, 8 * (stage >= 1 ? 4U : 11U));
    plan.precision = Precision::bf16;
    plan.moments = 1;
    EXPECT_EQ(state_bytes(plan, 1).parameter, 2 * (stage == 3 ? 4U : 11U));
    EXPECT_EQ(state_bytes(plan, 1).gradient, 4 * (stage >= 2 ? 4U : 11U));
    EXPECT_EQ(state_bytes(plan, 1).optimizer, 8 * (stage >= 1 ? 4U : 11U));
  }
}

TEST(Plan, AWorldOfOneMovesNothing) {
  for (int stage = 0; stage <= 3; ++stage) {
    RunPlan plan = tiny(stage);
    plan.ranks = 1;
    for (const auto& calls : {training_calls(plan), other_calls(plan)}) {
      EXPECT_EQ(predict(calls, 0, 1).total().sent, 0U);
      EXPECT_EQ(predict(calls, 0, 1).total().received, 0U);
      EXPECT_GT(predict(calls, 0, 1).total().calls, 0U);
    }
  }
}

TEST(Plan, DataGoToEveryOtherRankOnce) {
  std::uint64_t sent = 0;
  for (int rank = 0; rank < 3; ++rank) sent += predict(other_calls(tiny(2)), rank, 3)[Operation::broadcast].sent;
  // Header, 10 and 4 samples of 3 pixels and a label, to two ranks.
  EXPECT_EQ(sent, 2 * (6 * 8 + 14 * 3 + 14));
}

TEST(Plan, EvaluationTakesEveryBlockInRoundsOfFourARank) {
  EXPECT_EQ(evaluation_rounds(1, 1), 1U);
  EXPECT_EQ(evaluation_rounds(1024, 1), 1U);  // 4 blocks of 256.
  EXPECT_EQ(evaluation_rounds(1025, 1), 2U);
  EXPECT_EQ(evaluation_rounds(60'000, 4), 15U);  // 235 blocks, 16 a round.
  EXPECT_EQ(evaluation_rounds(60'000, 8), 8U);
}

TEST(Algorithms, AreTheDefaultsWhereTheNamedOneCannotDoTheOperation) {
  EXPECT_EQ(choose_algorithms(Algorithm::automatic, 2).reduction, Algorithm::pairwise);
  EXPECT_EQ(choose_algorithms(Algorithm::automatic, 2).all_gather, Algorithm::ring);
  EXPECT_EQ(choose_algorithms(Algorithm::ring, 2).reduction, Algorithm::ring);
  EXPECT_EQ(choose_algorithms(Algorithm::pairwise, 3).all_gather, Algorithm::ring);
  EXPECT_THROW(choose_algorithms(Algorithm::dissemination, 0), UsageError);
}

// Every 4 steps and at the end: 4, 8, 10; from 3 on too; from 4 on 8 and 10; to 8 no other one.
TEST(SavesBetween, AreThoseDueAndTheLast) {
  EXPECT_EQ(saves_between(0, 10, 4), 3U);
  EXPECT_EQ(saves_between(3, 10, 4), 3U);
  EXPECT_EQ(saves_between(4, 10, 4), 2U);
  EXPECT_EQ(saves_between(4, 8, 4), 1U);
  EXPECT_EQ(saves_between(0, 3, 4), 1U);
  EXPECT_EQ(saves_between(0, 10, 0), 1U);
  EXPECT_EQ(saves_between(10, 10, 5), 0U);
  EXPECT_EQ(saves_between(10, 10, 0), 0U);
}

}  // namespace
}  // namespace shoal::train

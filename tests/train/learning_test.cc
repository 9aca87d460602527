// What optimizers, clipping, accumulation and bf16 do to a run, and that none of it depends on world or stage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "shoal/runtime/simulation.h"
#include "support/run_ranks.h"
#include "train/gradient_step.h"
#include "train/objective.h"
#include "train/sharded_model.h"

namespace shoal::train {
namespace {

using Rows = std::vector<std::vector<float>>;

/// A linear model of one weight and one bias whose gradient by the weight is what a test says: sample s has rows with
/// given derivatives of the loss by the output, on inputs of 1; its loss is their sum.
class GivenGradients : public Objective {
 public:
  explicit GivenGradients(Rows rows) : rows_(std::move(rows)) {}

  std::size_t rows(std::int64_t sample) const override { return of(sample).size(); }
  std::size_t most_rows() const override {
    std::size_t most = 1;
    for (const auto& rows : rows_) most = std::max(most, rows.size());
    return most;
  }
  double weight_of_row() const override { return 1.0; }
  void load(std::span<const std::int64_t>, std::span<float> inputs) override {
    std::fill(inputs.begin(), inputs.end(), 1.0F);
  }
  double loss(std::span<const std::int64_t> samples, std::span<const float>, std::span<const float>,
              std::span<float> derivative) override {
    std::size_t row = 0;
    double sum = 0.0;
    for (const std::int64_t sample : samples) {
      for (const float gradient : of(sample)) {
        derivative[row++] = gradient;
        sum += static_cast<double>(gradient);
      }
    }
    return sum;
  }

 private:
  const std::vector<float>& of(std::int64_t sample) const { return rows_[static_cast<std::size_t>(sample)]; }

  Rows rows_;
};

std::vector<std::int64_t> ids(std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  return numbers;
}

std::vector<float> all_masters(ShardedModel& model) {
  std::vector<float> all;
  for (std::size_t layer = 0; layer < model.layout().layers().size(); ++layer) {
    const auto part = model.masters(layer);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

struct Outcome {
  StepResult step;
  float weight = 0.0F;  ///< Of the model, after one step of SGD from 0 with a learning rate of 1.
  double norm = 0.0;
};

Outcome one_step(Communicator& comm, int stage, const StepSettings& settings, const Rows& rows) {
  const std::array<std::size_t, 2> dims{1, 1};
  const Layout layout(dims);
  Transport transport(comm, {});
  MemoryAccounts memory;
  ShardedModel model(layout, {.stage = stage, .optimizer = {.kind = OptimizerKind::sgd}, .accumulates = true},
                     transport, memory);
  model.start(std::array{0.0F, 0.0F});
  GivenGradients objective(rows);
  GradientStep gradient_step(settings, objective, model, transport, memory);
  Outcome outcome{.step = gradient_step.run(ids(rows.size()))};
  outcome.norm = model.gradient_norm();
  if (outcome.step.weight > 0.0) model.update(1.0F, {.weight = static_cast<float>(outcome.step.weight)});
  outcome.weight = all_masters(model)[0];
  return outcome;
}

template <class Check>
void in_worlds_and_stages(const std::vector<int>& worlds, Check&& check) {
  for (const int ranks : worlds) {
    for (int stage = 0; stage <= 3; ++stage) {
      const auto result = run_ranks(ranks, [&](Communicator& comm) { check(comm, stage); });
      EXPECT_TRUE(result.all_passed()) << result << ranks << " ranks, stage " << stage;
    }
  }
}

// Field fault B01: the mean of microbatches' means is 4, that of the tokens 2. Four tokens, one of gradient 8; the three of
// gradient 0 are another sample. In one microbatch, in two, in two rounds, and with ranks that have none.
TEST(TokenMean, IsTakenOnceOverMicrobatchesRoundsAndRanks) {
  in_worlds_and_stages({1, 2, 4}, [](Communicator& comm, int stage) {
    const plan::MicrobatchLimits one_at_a_time{.max_padded_tokens = 100, .max_examples = 1};
    for (const StepSettings& settings : {StepSettings{.lanes = 4, .batch = 2}, StepSettings{.lanes = 4, .batch = 1},
                                         StepSettings{.lanes = 4, .batch = 2, .limits = one_at_a_time}}) {
      const Outcome outcome = one_step(comm, stage, settings, {{8.0F}, {0.0F, 0.0F, 0.0F}});
      EXPECT_EQ(outcome.step.loss, 2.0);
      EXPECT_EQ(outcome.step.weight, 4.0);
      EXPECT_EQ(outcome.weight, -2.0F);
    }
  });
}

// B04: 1 + 2 + 4 + 8, not the last microbatch's 8.
TEST(Accumulation, AddsUpEveryMicrobatchAtEveryStage) {
  in_worlds_and_stages({1, 2}, [](Communicator& comm, int stage) {
    const Outcome outcome = one_step(comm, stage, {.lanes = 4, .batch = 1}, {{1.0F}, {2.0F}, {4.0F}, {8.0F}});
    EXPECT_EQ(outcome.step.rounds, 4U);
    EXPECT_EQ(outcome.weight, -15.0F / 4.0F);
  });
}

// B02: constant gradients of 1: the step is 1 in every world, those with ranks without samples too.
TEST(ConstantGradient, MovesTheSameInEveryWorld) {
  in_worlds_and_stages({1, 2, 3, 4, 8}, [](Communicator& comm, int stage) {
    const Rows ones(7, {1.0F});
    const Outcome outcome = one_step(comm, stage, {.lanes = 16, .batch = 7}, ones);
    EXPECT_EQ(outcome.step.loss, 1.0);
    EXPECT_EQ(outcome.weight, -1.0F);
  });
}

// B27: rank 2 of 4 has samples without rows; and a step without any row has no weight, no loss and no NaN.
TEST(EmptyRanks, CountForNothing) {
  in_worlds_and_stages({1, 4}, [](Communicator& comm, int stage) {
    const Rows without_rank_2{{3.0F}, {5.0F}, {}, {1.0F}};
    const Outcome some = one_step(comm, stage, {.lanes = 4, .batch = 4}, without_rank_2);
    EXPECT_EQ(some.step.loss, 3.0);
    EXPECT_EQ(some.weight, -3.0F);
    const Outcome none = one_step(comm, stage, {.lanes = 4, .batch = 4}, Rows(4));
    EXPECT_EQ(none.step.loss, 0.0);
    EXPECT_EQ(none.step.weight, 0.0);
    EXPECT_EQ(none.weight, 0.0F);
  });
}

TEST(StopWish, OfOneRankIsKnownToAll) {
  const auto result = run_ranks(3, [](Communicator& comm) {
    const std::array<std::size_t, 2> dims{1, 1};
    const Layout layout(dims);
    Transport transport(comm, {});
    MemoryAccounts memory;
    ShardedModel model(layout, {}, transport, memory);
    GivenGradients objective(Rows{{1.0F}});
    GradientStep gradient_step({.lanes = 4, .batch = 1}, objective, model, transport, memory);
    EXPECT_FALSE(gradient_step.run(ids(1), false).stop_wanted);
    EXPECT_TRUE(gradient_step.run(ids(1), comm.rank() == 1).stop_wanted);
  });
  EXPECT_TRUE(result.all_passed()) << result;
}

/// Sets the summed gradient of a model of one layer of `values`.size() parameters by its only rank that has lanes.
double norm_of_gradient(Communicator& comm, int stage, const std::vector<float>& values) {
  // One input, n-1 outputs... is a layer of 2 (n-1) parameters, W and b alike: an output's derivative is both gradients.
  const std::array<std::size_t, 2> dims{1, values.size()};
  const Layout layout(dims);
  Transport transport(comm, {});
  MemoryAccounts memory;
  ShardedModel model(layout, {.stage = stage}, transport, memory);
  const auto room = model.gradient_room(0);
  std::fill(room.begin(), room.end(), 0.0F);
  if (comm.rank() == 0) std::copy(values.begin(), values.end(), room.begin());
  model.reduce_gradient(0);
  return model.gradient_norm();
}

// B08: [3, 4] over two ranks is 5 on each, not 3 and 4, and not 7.07 where both have a copy. A gradient that is not
// finite on one rank is an error on all.
TEST(GradientNorm, IsThatOfTheWholeOnEveryRank) {
  in_worlds_and_stages({1, 2, 3, 8}, [](Communicator& comm, int stage) {
    EXPECT_EQ(norm_of_gradient(comm, stage, {3.0F, 4.0F}), 5.0);
    EXPECT_EQ(norm_of_gradient(comm, stage, {0.0F, 0.0F, 0.0F}), 0.0);
    EXPECT_THROW(norm_of_gradient(comm, stage, {1.0F, std::numeric_limits<float>::quiet_NaN()}), std::runtime_error);
  });
}

TEST(GradientNorm, ClipsToTheLengthAskedFor) {
  const GradientScale scale{.weight = 1.0F, .clip = static_cast<float>(1.0 / 5.0)};
  EXPECT_FLOAT_EQ(scale(3.0F), 0.6F);
  EXPECT_FLOAT_EQ(scale(4.0F), 0.8F);
}

// bf16: what the products take is rounded, what the optimizer updates is not. 1 + 2^-9 rounds to 1; after many small
// updates the master has moved though each of them alone would be lost.
TEST(Bf16, MastersKeepWhatRoundingWouldLose) {
  in_worlds_and_stages({1, 2, 4}, [](Communicator& comm, int stage) {
    const std::array<std::size_t, 2> dims{1, 1};
    const Layout layout(dims);
    Transport transport(comm, {});
    MemoryAccounts memory;
    ShardedModel model(layout,
                       {.stage = stage, .optimizer = {.kind = OptimizerKind::sgd}, .precision = Precision::bf16},
                       transport, memory);
    model.start(std::array{1.0F, 0.0F});
    GivenGradients objective(Rows{{-0x1p-10F}});
    GradientStep gradient_step({.lanes = 4, .batch = 1}, objective, model, transport, memory);
    for (int step = 1; step <= 8; ++step) {
      gradient_step.run(ids(1));
      model.update(1.0F, {});
      EXPECT_EQ(all_masters(model)[0], 1.0F + static_cast<float>(step) * 0x1p-10F);
      // The last place of bf16 at 1 is 2^-7: half of it, reached at step 4, is a tie and goes to the even 1.
      EXPECT_EQ(model.parameters(0)[0], step <= 4 ? 1.0F : 1.0F + 0x1p-7F) << step;
    }
  });
}

}  // namespace
}  // namespace shoal::train

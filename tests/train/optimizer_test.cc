#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <tuple>

namespace shoal::train {
namespace {

TEST(Sgd, StepsDownTheMeanGradient) {
  AccountedMemory memory;
  Optimizer optimizer({.kind = OptimizerKind::sgd}, 2, memory);
  std::array<float, 2> parameters{1.0F, -4.0F};
  optimizer.begin_update(0.5F);
  optimizer.update(0, parameters, std::array<float, 2>{6.0F, -12.0F}, {.weight = 3.0F});  // Means 2 and -4.
  EXPECT_EQ(parameters, (std::array<float, 2>{0.0F, -2.0F}));
  EXPECT_EQ(memory.bytes(), 0U);  // No state.
}

// By hand, gradients 2, then -1, learning rate 0.1:
//   m = 0.2, v = 0.004; corrected 2 and 4; 1 - 0.1 * 2 / 2 = 0.9
//   m = 0.9 * 0.2 - 0.1 = 0.08, corrected by 1 - 0.81: 0.4210526
//   v = 0.999 * 0.004 + 0.001 = 0.004996, corrected by 1 - 0.998001: 2.4992496, its root 1.5809015
//   0.9 - 0.1 * 0.4210526 / 1.5809015 = 0.8733663
TEST(Sgd, AddsTheDecayedParameterToTheGradient) {
  AccountedMemory memory;
  Optimizer optimizer({.kind = OptimizerKind::sgd, .weight_decay = 0.25F}, 1, memory);
  std::array<float, 1> parameter{8.0F};
  optimizer.begin_update(0.5F);
  optimizer.update(0, parameter, std::array<float, 1>{6.0F}, {.weight = 3.0F});  // 8 - 0.5 (2 + 0.25 * 8).
  EXPECT_EQ(parameter[0], 6.0F);
}

// Gradients 1 and 1, then none: m = 1, 1.9, 1.71; the learning rate changes between the updates.
TEST(Momentum, KeepsNineTenthsOfItsSpeed) {
  AccountedMemory memory;
  Optimizer optimizer({.kind = OptimizerKind::momentum}, 1, memory);
  EXPECT_EQ(memory.bytes(), 4U);
  std::array<float, 1> parameter{10.0F};
  float expected = 10.0F;
  const std::array<float, 3> gradients{4.0F, 4.0F, 0.0F};
  const std::array<float, 3> speeds{1.0F, 1.9F, 1.71F};
  const std::array<float, 3> rates{1.0F, 0.5F, 2.0F};
  for (std::size_t step = 0; step < 3; ++step) {
    optimizer.begin_update(rates[step]);
    optimizer.update(0, parameter, std::span(gradients).subspan(step, 1), {.weight = 4.0F});
    expected -= rates[step] * speeds[step];
    EXPECT_NEAR(parameter[0], expected, 1e-5) << step;
  }
}

// Adam adds 0.5 * 4 to the gradient of 2, and the first step of either is the learning rate long, whatever the gradient;
// AdamW takes 0.1 * 0.5 * 4 off the parameter instead.
TEST(AdamW, TakesTheDecayOffTheParameterItself) {
  for (const auto& [kind, gradient, expected] :
       {std::tuple{OptimizerKind::adam, 2.0F, 3.9F}, std::tuple{OptimizerKind::adamw, 2.0F, 3.7F},
        std::tuple{OptimizerKind::adam, -2.0F, 4.0F}, std::tuple{OptimizerKind::adamw, -2.0F, 3.9F}}) {
    AccountedMemory memory;
    Optimizer optimizer({.kind = kind, .weight_decay = 0.5F}, 1, memory);
    std::array<float, 1> parameter{4.0F};
    optimizer.begin_update(0.1F);
    optimizer.update(0, parameter, std::array<float, 1>{gradient}, {});
    EXPECT_NEAR(parameter[0], expected, 1e-6) << name(kind);
  }
}

TEST(GradientScale, DividesAndThenShortens) {
  EXPECT_EQ((GradientScale{.weight = 4.0F, .clip = 1.0F})(6.0F), 1.5F);
  EXPECT_EQ((GradientScale{.weight = 4.0F, .clip = 0.5F})(6.0F), 0.75F);
}

TEST(Adam, MakesTheStepsComputedByHand) {
  AccountedMemory memory;
  Optimizer optimizer({.kind = OptimizerKind::adam}, 1, memory);
  EXPECT_EQ(memory.bytes(), 8U);  // Two floats.
  std::array<float, 1> parameter{1.0F};
  optimizer.begin_update(0.1F);
  optimizer.update(0, parameter, std::array<float, 1>{8.0F}, {.weight = 4.0F});
  EXPECT_NEAR(parameter[0], 0.9, 1e-6);
  optimizer.begin_update(0.1F);
  optimizer.update(0, parameter, std::array<float, 1>{-4.0F}, {.weight = 4.0F});
  EXPECT_NEAR(parameter[0], 0.8733663, 1e-6);
}

TEST(Adam, LeavesAParameterWithoutGradientWhereItIs) {
  AccountedMemory memory;
  Optimizer optimizer({}, 1, memory);
  std::array<float, 1> parameter{0.25F};
  optimizer.begin_update(0.1F);
  optimizer.update(0, parameter, std::array<float, 1>{0.0F}, {.weight = 4.0F});
  EXPECT_EQ(parameter[0], 0.25F);
}

TEST(Optimizers, ShardsOfAnySizeUpdateExactlyAsTheWholeDoes) {
  constexpr std::size_t kCount = 103;
  const GradientScale scale{.weight = 7.0F, .clip = 0.3F};
  for (const OptimizerKind kind : kOptimizers) {
    for (const std::size_t shard : {1U, 3U, 7U, 16U, 50U}) {
      AccountedMemory memory;
      const OptimizerSettings settings{.kind = kind, .weight_decay = 0.1F};
      Optimizer whole(settings, kCount, memory);
      Optimizer sharded(settings, kCount, memory);
      std::array<float, kCount> one{};
      std::array<float, kCount> other{};
      for (std::size_t i = 0; i < kCount; ++i) one[i] = other[i] = 0.01F * static_cast<float>(i);
      for (int step = 1; step <= 3; ++step) {
        std::array<float, kCount> gradient{};
        for (std::size_t i = 0; i < kCount; ++i)
          gradient[i] = std::sin(static_cast<float>(i) * static_cast<float>(step));
        whole.begin_update(0.01F);
        whole.update(0, one, gradient, scale);
        sharded.begin_update(0.01F);
        for (std::size_t first = 0; first < kCount; first += shard) {
          const std::size_t size = std::min(shard, kCount - first);
          sharded.update(first, std::span(other).subspan(first, size), std::span(gradient).subspan(first, size), scale);
        }
        ASSERT_EQ(one, other) << "shards of " << shard;
      }
    }
  }
}

}  // namespace
}  // namespace shoal::train

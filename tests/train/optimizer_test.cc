#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace shoal::train {
namespace {

TEST(Sgd, StepsDownTheMeanGradient) {
  AccountedMemory memory;
  Optimizer optimizer({.kind = OptimizerKind::sgd, .learning_rate = 0.5F}, 2, memory);
  std::array<float, 2> parameters{1.0F, -4.0F};
  optimizer.begin_update();
  optimizer.update(0, parameters, std::array<float, 2>{6.0F, -12.0F}, 3.0F);  // Means 2 and -4.
  EXPECT_EQ(parameters, (std::array<float, 2>{0.0F, -2.0F}));
  EXPECT_EQ(memory.bytes(), 0U);  // No state.
}

// By hand, gradients 2, then -1, learning rate 0.1:
//   m = 0.2, v = 0.004; corrected 2 and 4; 1 - 0.1 * 2 / 2 = 0.9
//   m = 0.9 * 0.2 - 0.1 = 0.08, corrected by 1 - 0.81: 0.4210526
//   v = 0.999 * 0.004 + 0.001 = 0.004996, corrected by 1 - 0.998001: 2.4992496, its root 1.5809015
//   0.9 - 0.1 * 0.4210526 / 1.5809015 = 0.8733663
TEST(Adam, MakesTheStepsComputedByHand) {
  AccountedMemory memory;
  Optimizer optimizer({.kind = OptimizerKind::adam, .learning_rate = 0.1F}, 1, memory);
  EXPECT_EQ(memory.bytes(), 8U);  // Two floats.
  std::array<float, 1> parameter{1.0F};
  optimizer.begin_update();
  optimizer.update(0, parameter, std::array<float, 1>{8.0F}, 4.0F);
  EXPECT_NEAR(parameter[0], 0.9, 1e-6);
  optimizer.begin_update();
  optimizer.update(0, parameter, std::array<float, 1>{-4.0F}, 4.0F);
  EXPECT_NEAR(parameter[0], 0.8733663, 1e-6);
}

TEST(Adam, LeavesAParameterWithoutGradientWhereItIs) {
  AccountedMemory memory;
  Optimizer optimizer({}, 1, memory);
  std::array<float, 1> parameter{0.25F};
  optimizer.begin_update();
  optimizer.update(0, parameter, std::array<float, 1>{0.0F}, 4.0F);
  EXPECT_EQ(parameter[0], 0.25F);
}

TEST(Optimizers, ShardsOfAnySizeUpdateExactlyAsTheWholeDoes) {
  constexpr std::size_t kCount = 103;
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam}) {
    for (const std::size_t shard : {1U, 3U, 7U, 16U, 50U}) {
      AccountedMemory memory;
      Optimizer whole({.kind = kind}, kCount, memory);
      Optimizer sharded({.kind = kind}, kCount, memory);
      std::array<float, kCount> one{};
      std::array<float, kCount> other{};
      for (std::size_t i = 0; i < kCount; ++i) one[i] = other[i] = 0.01F * static_cast<float>(i);
      for (int step = 1; step <= 3; ++step) {
        std::array<float, kCount> gradient{};
        for (std::size_t i = 0; i < kCount; ++i)
          gradient[i] = std::sin(static_cast<float>(i) * static_cast<float>(step));
        whole.begin_update();
        whole.update(0, one, gradient, 7.0F);
        sharded.begin_update();
        for (std::size_t first = 0; first < kCount; first += shard) {
          const std::size_t size = std::min(shard, kCount - first);
          sharded.update(first, std::span(other).subspan(first, size), std::span(gradient).subspan(first, size), 7.0F);
        }
        ASSERT_EQ(one, other) << "shards of " << shard;
      }
    }
  }
}

}  // namespace
}  // namespace shoal::train

// Training steps of real ranks against a plain serial computation, and against each other.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "shoal/runtime/simulation.h"
#include "support/run_ranks.h"
#include "train/evaluate.h"
#include "train/gradient_step.h"
#include "train/initial.h"
#include "train/objective.h"
#include "train/sharded_model.h"

namespace shoal::train {
namespace {

// Samples of 5 pixels in 3 classes, all different.
Split samples(std::size_t count) {
  Split split{.count = count, .features = 5};
  for (std::size_t i = 0; i < count; ++i) {
    split.labels.push_back(static_cast<std::uint8_t>(i * 5 % 3));
    for (std::size_t pixel = 0; pixel < 5; ++pixel)
      split.pixels.push_back(static_cast<std::uint8_t>((i * 37 + pixel * 101 + i * pixel * 13) % 256));
  }
  return split;
}

std::vector<std::int64_t> ids(std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  return numbers;
}

GradientScale scale_of(const StepResult& result) { return {.weight = static_cast<float>(result.weight)}; }

/// All parameters, on every rank.
std::vector<float> all_parameters(ShardedModel& model) {
  std::vector<float> all;
  for (std::size_t layer = 0; layer < model.layout().layers().size(); ++layer) {
    const auto part = model.parameters(layer);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Softmax regression (5-3) by plain loops in double precision: `steps` of SGD on the mean loss of all samples.
struct Regression {
  explicit Regression(std::span<const float> start) : parameters(start.begin(), start.end()) {}

  double step(const Split& data, double learning_rate) {
    std::vector<double> gradient(18);
    double loss = 0.0;
    for (std::size_t row = 0; row < data.count; ++row) {
      std::array<double, 3> scores{};
      for (std::size_t j = 0; j < 3; ++j) {
        scores[j] = parameters[15 + j];
        for (std::size_t i = 0; i < 5; ++i) scores[j] += data.pixels[row * 5 + i] / 255.0 * parameters[i * 3 + j];
      }
      const double total = std::exp(scores[0]) + std::exp(scores[1]) + std::exp(scores[2]);
      loss += std::log(total) - scores[data.labels[row]];
      for (std::size_t j = 0; j < 3; ++j) {
        const double slope = std::exp(scores[j]) / total - (j == data.labels[row] ? 1.0 : 0.0);
        gradient[15 + j] += slope;
        for (std::size_t i = 0; i < 5; ++i) gradient[i * 3 + j] += data.pixels[row * 5 + i] / 255.0 * slope;
      }
    }
    const auto count = static_cast<double>(data.count);
    for (std::size_t i = 0; i < 18; ++i) parameters[i] -= learning_rate * gradient[i] / count;
    return loss / count;
  }

  std::vector<double> parameters;
};

TEST(SharedHeap, HoldsParametersGradientsAndOptimizerStateAtEveryStage) {
  for (int stage = 0; stage <= 3; ++stage) {
    for (const Precision precision : {Precision::f32, Precision::bf16}) {
      const auto result = run_sessions(3, [&](Session& session) {
        const std::array<std::size_t, 3> dims{5, 7, 3};
        const Layout layout(dims);
        Transport transport(session.world(), {});
        MemoryAccounts memory(*session.heap());
        ShardedModel model(layout, {.stage = stage, .precision = precision}, transport, memory);
        model.start(5);
        const auto is_shared = [&](std::span<const float> values) {
          return session.world().place_of(std::as_bytes(values)).has_value();
        };
        for (std::size_t layer = 0; layer < 2; ++layer) {
          const LayerState state = model.state(layer);
          EXPECT_TRUE(is_shared(state.masters));
          ASSERT_EQ(state.moments.size(), 2U);
          for (const auto moment : state.moments) EXPECT_TRUE(is_shared(moment));
          EXPECT_TRUE(is_shared(model.gradient_room(layer)));
        }
        const std::vector<float> private_values(4);
        EXPECT_FALSE(is_shared(private_values));
      });
      EXPECT_TRUE(result.all_passed()) << stage << result;
    }
  }
}

// Also the test that the mean is taken once: by world sizes that do not divide the batch, with lanes and ranks that
// have no sample (7 samples in 16 lanes over up to 9 ranks), the step is that of the plain mean.
class Sharding : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Sharding, StepsAreThoseOfThePlainMeanGradient) {
  const auto [ranks, stage] = GetParam();
  const auto result = run_ranks(ranks, [stage = stage](Communicator& comm) {
    const std::array<std::size_t, 2> dims{5, 3};
    const Layout layout(dims);
    const Split data = samples(7);
    const auto batch_ids = ids(7);
    Transport transport(comm, {});
    MemoryAccounts memory;
    ShardedModel model(layout, {.stage = stage, .optimizer = {.kind = OptimizerKind::sgd}}, transport, memory);
    model.start(5);
    Regression plain(all_parameters(model));
    ImageObjective objective(Task::classify, data);
    GradientStep gradient_step({.lanes = 16, .batch = 7}, objective, model, transport, memory);
    for (int step = 0; step < 4; ++step) {
      const StepResult of_step = gradient_step.run(batch_ids);
      EXPECT_EQ(of_step.weight, 7.0);
      EXPECT_NEAR(of_step.loss, plain.step(data, 1.0), 1e-6);
      model.update(1.0F, scale_of(of_step));
      const auto parameters = all_parameters(model);
      for (std::size_t i = 0; i < 18; ++i) ASSERT_NEAR(parameters[i], plain.parameters[i], 1e-5) << i;
    }
  });
  EXPECT_TRUE(result.all_passed()) << result;
}

INSTANTIATE_TEST_SUITE_P(Worlds, Sharding, testing::Combine(testing::Values(1, 2, 3, 4, 7, 9), testing::Range(0, 4)));

// Two weights and two biases: most of eight ranks have no part of a layer, and must still do their share of the calls.
std::vector<float> trained_with_four_parameters(Communicator& comm, int stage) {
  const std::array<std::size_t, 2> dims{1, 2};
  const Layout layout(dims);
  Split data{.count = 9, .features = 1};
  for (std::size_t i = 0; i < data.count; ++i) {
    data.pixels.push_back(static_cast<std::uint8_t>(29 * i));
    data.labels.push_back(static_cast<std::uint8_t>(i * i % 2));
  }
  const auto batch_ids = ids(data.count);
  Transport transport(comm, {});
  MemoryAccounts memory;
  ShardedModel model(layout, {.stage = stage}, transport, memory);
  model.start(3);
  ImageObjective objective(Task::classify, data);
  GradientStep gradient_step({.lanes = 16, .batch = data.count}, objective, model, transport, memory);
  for (int step = 0; step < 5; ++step) model.update(0.1F, scale_of(gradient_step.run(batch_ids)));
  return all_parameters(model);
}

TEST(FewerParametersThanRanks, EndWithTheSameBitsAtEveryStageAndInEveryWorld) {
  std::vector<float> expected;
  const auto alone = simulate(1, [&](Communicator& comm) { expected = trained_with_four_parameters(comm, 0); });
  ASSERT_TRUE(alone.ok()) << alone;
  ASSERT_EQ(expected.size(), 4U);
  for (const int ranks : {2, 8, 16}) {
    const auto result = run_ranks(ranks, [&](Communicator& comm) {
      for (int stage = 0; stage <= 3; ++stage)
        EXPECT_EQ(trained_with_four_parameters(comm, stage), expected) << "stage " << stage;
    });
    EXPECT_TRUE(result.all_passed()) << result << ranks << " ranks";
  }
}

TEST(InitialParameters, AreTheSameInEveryWorldAndStage) {
  const std::array<std::size_t, 4> dims{5, 4, 3, 2};
  const Layout layout(dims);
  std::vector<float> expected;
  for (const Layer& layer : layout.layers()) {
    std::vector<float> part(layer.size());
    initial_parameters(layer, 11, 0, part);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  for (const int ranks : {1, 3, 8}) {
    const auto result = run_ranks(ranks, [&](Communicator& comm) {
      Transport transport(comm, {});
      for (int stage = 0; stage <= 3; ++stage) {
        MemoryAccounts memory;
        ShardedModel model(layout, {.stage = stage}, transport, memory);
        model.start(11);
        EXPECT_EQ(all_parameters(model), expected) << "stage " << stage;
      }
    });
    EXPECT_TRUE(result.all_passed()) << result;
  }
}

// What a stage keeps, in bytes: 3 ranks, layers of 15 + 3 = 18 (6 each) and 6 + 2 = 8 (3, 3, 2) parameters.
TEST(Memory, IsWhatTheStageShards) {
  const auto result = run_ranks(3, [](Communicator& comm) {
    const std::array<std::size_t, 3> dims{5, 3, 2};
    const Layout layout(dims);
    Transport transport(comm, {});
    const std::uint64_t whole = 26;
    const std::uint64_t own = comm.rank() < 2 ? 9 : 8;
    for (int stage = 0; stage <= 3; ++stage) {
      MemoryAccounts memory;
      ShardedModel model(layout, {.stage = stage}, transport, memory);
      const std::uint64_t room_for_a_layer = stage >= 2 ? 18 : 0;
      EXPECT_EQ(memory[MemoryUse::parameter].bytes(), 4 * (stage >= 3 ? own : whole));
      EXPECT_EQ(memory[MemoryUse::gradient].bytes(), 4 * (stage >= 2 ? own : whole));
      EXPECT_EQ(memory[MemoryUse::optimizer].bytes(), 8 * (stage >= 1 ? own : whole));
      EXPECT_EQ(memory.peak_bytes(MemoryUse::scratch), 4 * room_for_a_layer);

      // Lanes: 10 samples in 4 lanes are 3, 3, 2, 2; rank 0 has lanes 0 and 3, the others one each.
      const Split data = samples(10);
      ImageObjective objective(Task::classify, data);
      GradientStep gradient_step({.lanes = 4, .batch = 10}, objective, model, transport, memory);
      const std::uint64_t rows = comm.rank() == 0 ? 5 : comm.rank() == 1 ? 3 : 2;
      const std::uint64_t values = rows * (5 + 3 + 2);
      const std::uint64_t derivatives = rows * (3 + 2);
      const std::uint64_t waiting_sums = comm.rank() == 0 ? 15 : 0;  // One of W0, where two lanes are added.
      const std::uint64_t transposed = 3 * 2;                        // W1.
      EXPECT_EQ(memory.peak_bytes(MemoryUse::scratch),
                4 * (room_for_a_layer + values + derivatives + waiting_sums + transposed));
    }
  });
  EXPECT_TRUE(result.all_passed()) << result;
}

TEST(Memory, IsTakenOnceNotInEveryStep) {
  const auto result = run_ranks(2, [](Communicator& comm) {
    const std::array<std::size_t, 3> dims{5, 3, 3};
    const Layout layout(dims);
    const Split data = samples(20);
    const auto all_ids = ids(20);
    Transport transport(comm, {});
    for (int stage = 0; stage <= 3; ++stage) {
      MemoryAccounts memory;
      ShardedModel model(layout, {.stage = stage}, transport, memory);
      model.start(0);
      ImageObjective objective(Task::classify, data);
      GradientStep gradient_step({.lanes = 16, .batch = 20}, objective, model, transport, memory);
      const auto allocations = [&] {
        std::uint64_t total = memory.shared_scratch().allocations();
        for (const MemoryUse use :
             {MemoryUse::parameter, MemoryUse::gradient, MemoryUse::optimizer, MemoryUse::scratch})
          total += memory[use].allocations();
        return total;
      };
      const std::uint64_t before = allocations();
      for (const std::size_t size : {20U, 7U, 20U})
        model.update(0.001F, scale_of(gradient_step.run(std::span(all_ids).first(size))));
      EXPECT_EQ(allocations(), before);
    }
  });
  EXPECT_TRUE(result.all_passed()) << result;
}

// A model that tells the brightest of 4 pixels; every third sample is labelled wrongly.
TEST(Evaluation, CountsEverySampleOnceInEveryWorld) {
  for (const std::size_t count : {1U, 10U, 256U, 257U, 2500U}) {
    Split data{.count = count, .features = 4};
    std::int64_t expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t pixel = 0; pixel < 4; ++pixel)
        data.pixels.push_back(static_cast<std::uint8_t>(pixel == i % 4 ? 200 : i % 100));
      data.labels.push_back(static_cast<std::uint8_t>(i % 3 == 0 ? (i + 1) % 4 : i % 4));
      expected += i % 3 == 0 ? 0 : 1;
    }
    for (const int ranks : {1, 3, 4, 7, 16}) {
      const auto result = run_ranks(ranks, [&](Communicator& comm) {
        const std::array<std::size_t, 2> dims{4, 4};
        const Layout layout(dims);
        Transport transport(comm, {});
        for (const int stage : {2, 3}) {
          MemoryAccounts memory;
          ShardedModel model(layout, {.stage = stage}, transport, memory);
          model.start(
              std::array<float, 20>{1, 0, 0, 0, /**/ 0, 1, 0, 0, /**/ 0, 0, 1, 0, /**/ 0, 0, 0, 1, /**/ 0, 0, 0, 0});
          EXPECT_EQ(count_correct_over_ranks(model, transport, data, memory[MemoryUse::scratch]), expected);
        }
      });
      EXPECT_TRUE(result.all_passed()) << result << count << " samples";
    }
  }
}

}  // namespace
}  // namespace shoal::train

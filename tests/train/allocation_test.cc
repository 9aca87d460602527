// What a training step takes of the process's memory after the first: nothing. This program counts every call by which
// memory is taken, whichever library makes it.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "support/run_ranks.h"
#include "train/gradient_step.h"
#include "train/next_row_objective.h"
#include "train/objective.h"
#include "train/sharded_model.h"
#include "train/stream.h"

namespace {

std::size_t taken = 0;  // Calls; the ranks of this test have one thread each.

}  // namespace

// The C library's own, under the names by which it offers them to replacements such as these.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) {
  ++taken;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  ++taken;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  ++taken;
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++taken;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  ++taken;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
}

namespace shoal::train {
namespace {

/// Images of 8 x 8 in 10 classes, with blank rows here and there.
Split images(std::size_t count) {
  Split split{.count = count, .features = 64};
  for (std::size_t image = 0; image < count; ++image) {
    split.labels.push_back(static_cast<std::uint8_t>(image % 10));
    for (std::size_t pixel = 0; pixel < 64; ++pixel)
      split.pixels.push_back(
          static_cast<std::uint8_t>(image * 7 % (pixel / 8 + 2) == 0 ? 0 : (image * 37 + pixel) % 256));
  }
  return split;
}

struct Way {
  Precision precision = Precision::f32;
  std::size_t accumulate = 1;
  std::optional<plan::MicrobatchLimits> limits = std::nullopt;
};

class Allocation : public testing::TestWithParam<std::tuple<int, int, bool>> {};

// 100 samples in batches of 40, so that epochs end in a short one and begin again; with clipping, whose norm is summed too.
TEST_P(Allocation, NoStepAfterTheFirstTakesMemory) {
  const auto [ranks, stage, by_row] = GetParam();
  const std::vector<Way> ways{
      {},
      {.precision = Precision::bf16},
      {.accumulate = 2},
      {.limits = plan::MicrobatchLimits{.max_padded_tokens = 9, .max_examples = 2}},
  };
  for (const Way& way : ways) {
    const auto result = run_sessions(ranks, [stage = stage, by_row = by_row, &way](Session& session) {
      const Split data = images(100);
      const Layout layout(by_row ? std::vector<std::size_t>{8, 300, 8} : std::vector<std::size_t>{64, 130, 10});
      std::unique_ptr<Objective> objective;
      if (by_row)
        objective = std::make_unique<NextRowObjective>(data, 8);
      else
        objective = std::make_unique<ImageObjective>(Task::classify, data);
      Transport transport(session.world(), {});
      MemoryAccounts memory(*session.heap());
      ShardedModel model(
          layout,
          {.stage = stage, .precision = way.precision, .accumulates = way.accumulate > 1 || way.limits.has_value()},
          transport, memory);
      model.start(1);
      GradientStep gradient_step({.lanes = 16, .batch = 40, .limits = way.limits}, *objective, model, transport,
                                 memory);
      SampleStream stream(3, 100, 40 * way.accumulate);
      for (int number = 0; number < 12; ++number) {
        const std::size_t before = taken;
        const StepResult step = gradient_step.run(stream.next());
        const double norm = model.gradient_norm() / step.weight;
        model.update(0.001F, {.weight = static_cast<float>(step.weight), .clip = norm > 0.1 ? 0.5F : 1.0F});
        // A reduction through channels takes room for the others' blocks in each call, from the collectives' own memory.
        const std::size_t reductions = session.world().size() == 1 ? 0 : step.rounds * layout.layers().size();
        if (number > 0) {
          EXPECT_LE(taken - before, reductions) << "step " << number;
        }
      }
    });
    EXPECT_TRUE(result.all_passed()) << result;
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, Allocation,
                         testing::Combine(testing::Values(1, 2, 4), testing::Range(0, 4), testing::Bool()));

TEST(AllocationCount, SeesWhatIsTaken) {
  const std::size_t before = taken;
  const std::vector<float> memory(1000);
  EXPECT_EQ(taken, before + 1) << memory.data();
}

}  // namespace
}  // namespace shoal::train

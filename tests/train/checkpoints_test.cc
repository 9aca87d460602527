// The state of training between worlds: what any ranks wrote is what any others read, element by element.
#include "train/checkpoints.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "support/run_ranks.h"
#include "support/temporary_folder.h"
#include "train/sharded_model.h"

namespace shoal::train {
namespace {

constexpr std::uint64_t kStep = 7;
constexpr std::uint64_t kUpdates = 6;  // A step may have had nothing to learn from.

/// A value of its own for every element of a layer and part: 0 the masters, 1 and 2 the moments.
float value_of(std::size_t layer, std::size_t part, std::size_t element) {
  return static_cast<float>(layer * 1000 + part * 300 + element) + 0.25F;
}

/// Calls `visit` with layer, part, place in the layer, and element of all that this rank updates.
template <class Visit>
void for_each_element(ShardedModel& model, Visit&& visit) {
  for (std::size_t layer = 0; layer < model.layout().layers().size(); ++layer) {
    const LayerState state = model.state(layer);
    std::vector<std::span<float>> parts{state.masters};
    parts.insert(parts.end(), state.moments.begin(), state.moments.end());
    for (std::size_t part = 0; part < parts.size(); ++part)
      for (std::size_t i = 0; i < parts[part].size(); ++i) visit(layer, part, state.begin + i, parts[part][i]);
  }
}

/// Opens the checkpoints of a model of 5 x 7 + 7 and 7 x 3 + 3 parameters, which no world here but 1 and 3 divides.
template <class Body>
void with_model(Session& session, const std::filesystem::path& directory, int stage, Body&& body) {
  const Layout layout(std::vector<std::size_t>{5, 7, 3});
  Transport transport(session.world(), {});
  MemoryAccounts memory(*session.heap());
  ShardedModel model(layout, {.stage = stage}, transport, memory);
  Checkpoints checkpoints(session.world(), directory, 0, {{"seed", 1}});
  body(model, checkpoints, checkpoints.open());
}

// B09. Adam's moments and the number of updates too, of worlds that divide nothing.
TEST(Checkpoints, GiveEveryRankOfAnyWorldWhatWasWrittenElementByElement) {
  for (const int writers : {1, 2, 3, 5, 8}) {
    const test::TemporaryFolder folder;
    const auto written = run_sessions(writers, [&](Session& session) {
      with_model(session, folder.path(), writers % 4, [&](ShardedModel& model, Checkpoints& checkpoints, auto newest) {
        EXPECT_FALSE(newest);
        for_each_element(model, [](std::size_t layer, std::size_t part, std::size_t place, float& element) {
          element = value_of(layer, part, place);
        });
        checkpoints.save({.step = kStep, .updates = kUpdates, .losses = {7, 6, 5, 4, 3, 2, 1}}, model);
      });
    });
    ASSERT_TRUE(written.all_passed()) << written;
    for (const int readers : {1, 2, 3, 5, 8}) {
      for (int stage = 0; stage <= 3; ++stage) {
        const auto read = run_sessions(readers, [&](Session& session) {
          with_model(session, folder.path(), stage, [&](ShardedModel& model, Checkpoints& checkpoints, auto newest) {
            ASSERT_EQ(newest, kStep);
            const TrainingState state = checkpoints.load(*newest, model);
            EXPECT_EQ(state.step, kStep);
            EXPECT_EQ(state.updates, kUpdates);
            EXPECT_EQ(state.losses, (std::vector<double>{7, 6, 5, 4, 3, 2, 1}));
            std::array<std::size_t, 3> elements{};
            for_each_element(model, [&](std::size_t layer, std::size_t part, std::size_t place, float element) {
              EXPECT_EQ(element, value_of(layer, part, place)) << layer << ' ' << part << ' ' << place;
              ++elements[part];
            });
            EXPECT_EQ(elements[1], elements[0]);
            EXPECT_EQ(elements[2], elements[0]);
            if (stage == 0) {
              EXPECT_EQ(elements[0], 42U + 24U);
            }
          });
        });
        EXPECT_TRUE(read.all_passed()) << writers << " writers, " << readers << " readers, stage " << stage << read;
      }
    }
  }
}

}  // namespace
}  // namespace shoal::train

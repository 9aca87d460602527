#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "shoal/runtime/communicator.h"
#include "shoal/runtime/simulation.h"
#include "support/errors.h"
#include "support/run_ranks.h"

// Splitting, and calls on the communicators that come of it; on real ranks and in simulation.

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Every rank learns every other's number: a ring all-gather, checked.
void expect_members(Communicator& comm, const std::vector<int>& world_ranks, int own_world_rank) {
  ASSERT_EQ(comm.size(), static_cast<int>(world_ranks.size()));
  EXPECT_EQ(world_ranks[static_cast<std::size_t>(comm.rank())], own_world_rank);
  std::vector<int> seen(world_ranks.size(), -1);
  seen[static_cast<std::size_t>(comm.rank())] = own_world_rank;
  comm.perform({.operation = Operation::all_gather, .algorithm = Algorithm::ring, .count = seen.size()}, {}, [&] {
    const auto slot = [&](int distance) {
      return std::span(seen).subspan(static_cast<std::size_t>((comm.rank() - distance + comm.size()) % comm.size()), 1);
    };
    for (int step = 0; step + 1 < comm.size(); ++step)
      comm.exchange((comm.rank() + 1) % comm.size(), std::as_bytes(slot(step)),
                    (comm.rank() + comm.size() - 1) % comm.size(), std::as_writable_bytes(slot(step + 1)));
  });
  EXPECT_EQ(seen, world_ranks);
}

void split_in_three(Communicator& world) {
  // Nine ranks by remainder; within a group the later ones first.
  Communicator group = world.split(world.rank() % 3, -world.rank());
  const int color = world.rank() % 3;
  expect_members(group, {color + 6, color + 3, color}, world.rank());
  std::vector<int> all(9);
  std::iota(all.begin(), all.end(), 0);
  expect_members(world, all, world.rank());
  // Split again: the first two of each group, and the last alone.
  Communicator part = group.split(group.rank() / 2);
  if (group.rank() < 2)
    expect_members(part, {color + 6, color + 3}, world.rank());
  else
    expect_members(part, {color}, world.rank());
  expect_members(group, {color + 6, color + 3, color}, world.rank());
  expect_members(world, all, world.rank());
}

TEST(Split, GroupsAreFormedByColorAndOrderedByKeyAndWorkBesideOneAnother) {
  const auto ranks = test::run_ranks(9, split_in_three);
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Split, TheSameUnderManySchedulesAndCapacities) {
  for (const std::uint64_t channel : {16U, 4096U}) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const auto result = simulate(9, split_in_three, {.seed = seed, .channel_bytes = channel});
      ASSERT_TRUE(result.ok()) << result;
    }
  }
}

TEST(Split, EqualKeysKeepTheOrderOfTheParent) {
  const auto ranks = test::run_ranks(5, [](Communicator& world) {
    Communicator same = world.split(-7);  // Any number is a color.
    expect_members(same, {0, 1, 2, 3, 4}, world.rank());
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Split, GivesBackWhatItTookAsOftenAsOneLikes) {
  const auto ranks = test::run_ranks(4, [](Communicator& world) {
    for (int i = 0; i < 5000; ++i) {
      Communicator half = world.split(world.rank() / 2);
      Communicator moved = std::move(half);
      if (i % 500 == 0) expect_members(moved, {world.rank() / 2 * 2, world.rank() / 2 * 2 + 1}, world.rank());
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Split, TooManyAtOnceIsAnErrorForAllWithTheNumber) {
  const auto ranks = test::run_ranks(2, [](Communicator& world) {
    std::vector<Communicator> open;
    const auto error = test::error_of([&] {
      for (int i = 0; i < 1024; ++i) open.push_back(world.split(0));
    });
    EXPECT_EQ(open.size(), 1023U);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), world.rank() == 0 ? ErrorCode::system : ErrorCode::broken);
    EXPECT_THAT(error->what(), HasSubstr("1023 communicators are open already"));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Split, IsChargedToItself) {
  const auto ranks = test::run_ranks(3, [](Communicator& world) {
    const Traffic before = world.traffic();
    const Communicator all = world.split(0);
    // Each rank's choice to two others; the first rank the new number to two members.
    const std::uint64_t sent = 16 + (world.rank() == 0 ? 16 : 0);
    const std::uint64_t received = 16 + (world.rank() == 0 ? 0 : 8);
    const Traffic moved = world.traffic() - before;
    EXPECT_EQ(moved.by_op, (std::map<std::string, TrafficCount>{{"split", {1, sent, received}}}));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Split, ErrorsOfASubcommunicatorNameItsRanksAndTheWorlds) {
  const auto ranks = test::run_ranks(4, [](Communicator& world) {
    // Odd ranks, backwards: rank 0 is the world's 3, rank 1 the world's 1.
    Communicator odd = world.split(world.rank() % 2, -world.rank());
    if (world.rank() % 2 == 0) return;
    const auto error = test::error_of([&] {
      odd.perform({.operation = Operation::gather, .algorithm = Algorithm::linear, .count = 8},
                  std::chrono::milliseconds(odd.rank() == 0 ? 30 : 0), [&] {
                    std::vector<std::byte> data(8);
                    odd.recv(1 - odd.rank(), data);
                  });
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), odd.rank() == 0 ? ErrorCode::timeout : ErrorCode::broken);
    EXPECT_EQ(error->peer(), odd.rank() == 0 ? 1 : 0);
    EXPECT_THAT(error->what(),
                AllOf(HasSubstr("rank 0 (world rank 3): timeout"), HasSubstr("waiting for peer 1 (world rank 1)")));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Split, ErrorBreaksOnlyTheCommunicatorOfTheCall) {
  const auto ranks = test::run_ranks(4, [](Communicator& world) {
    Communicator pair = world.split(world.rank() / 2);
    if (world.rank() < 2) {
      EXPECT_THROW(pair.refuse({.operation = Operation::broadcast}, "a mistake"), Error);
      EXPECT_THROW(pair.perform({.operation = Operation::barrier}, {}, [] {}), Error);
    } else {
      expect_members(pair, {2, 3}, world.rank());
    }
    expect_members(world, {0, 1, 2, 3}, world.rank());
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal

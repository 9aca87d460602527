#include "binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal::detail {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

// Two packages of two cores of two processors: 0 1 | 2 3 || 4 5 | 6 7.
constexpr const char* kMachine = "pack:2 core:2 pu:2";

AllowedCores only(std::vector<int> processors, double quota = 0) {
  return {.cores = std::move(processors), .quota = quota};
}
std::vector<Processors> placed(Binding binding, int ranks, const AllowedCores& allowed) {
  return place_ranks(binding, ranks, described_topology(kMachine, allowed), allowed.count());
}

TEST(Topology, ShowsOfEachCoreTheAllowedProcessorsAndNoCoreWithoutAny) {
  EXPECT_THAT(described_topology(kMachine, only({0, 1, 3, 6})),
              ElementsAre(Core{0, 0, {0, 1}}, Core{0, 0, {3}}, Core{1, 0, {6}}));
}

TEST(Topology, WithoutHwlocsHelpMakesEveryProcessorACore) {
  EXPECT_THAT(described_topology("no such machine", only({1, 5})), ElementsAre(Core{0, 0, {1}}, Core{0, 0, {5}}));
  EXPECT_THAT(described_topology(kMachine, only({2, 77})), ElementsAre(Core{0, 0, {2}}, Core{0, 0, {77}}));
}

TEST(Topology, OfThisMachineHasAllAllowedProcessorsOnce) {
  std::vector<int> processors;
  for (const Core& core : allowed_topology(allowed_cores()))
    processors.insert(processors.end(), core.processors.begin(), core.processors.end());
  EXPECT_THAT(processors, testing::UnorderedElementsAreArray(allowed_cores().cores));
}

TEST(Binding, AutomaticGivesEachRankItsOwnOnlyWhereThereAreAsManyOfThem) {
  EXPECT_THAT(placed(Binding::automatic, 2, only({1, 5})), ElementsAre(Processors{1}, Processors{5}));
  EXPECT_THAT(placed(Binding::automatic, 1, only({3})), ElementsAre(Processors{3}));
  EXPECT_THAT(placed(Binding::automatic, 2, only({0, 1, 2, 3})), ElementsAre(Processors{0, 1}, Processors{2, 3}));
  EXPECT_THAT(placed(Binding::automatic, 4, only({0, 1, 2, 3})),
              ElementsAre(Processors{0}, Processors{2}, Processors{1}, Processors{3}));
  for (const int ranks : {1, 3, 4, 16}) EXPECT_THAT(placed(Binding::automatic, ranks, only({1, 5})), Each(IsEmpty()));
}

TEST(Binding, AutomaticBindsNobodyWhereAQuotaAllowsLessThanTheProcessors) {
  for (const double quota : {0.5, 1.5})
    for (const int ranks : {1, 2})
      EXPECT_THAT(placed(Binding::automatic, ranks, only({0, 2}, quota)), Each(IsEmpty())) << quota;
}

TEST(Binding, CoreDealsTheAllowedCoresOutInTurn) {
  EXPECT_THAT(placed(Binding::core, 3, only({1, 5})), ElementsAre(Processors{1}, Processors{5}, Processors{1}));
  EXPECT_THAT(placed(Binding::core, 1, only({3, 6})), ElementsAre(Processors{3}));
  EXPECT_THAT(placed(Binding::core, 3, only({0, 1, 4})), ElementsAre(Processors{0}, Processors{4}, Processors{1}));
}

TEST(Binding, StaysWithinTheAllowedWhateverIsAsked) {
  for (const auto& processors : std::vector<std::vector<int>>{{3}, {1, 5}, {0, 1, 2, 3, 4, 5, 6, 7}, {7, 0}, {2, 64}})
    for (const Binding binding : {Binding::automatic, Binding::core, Binding::none})
      for (int ranks = 1; ranks <= 16; ++ranks)
        for (const Processors& place : placed(binding, ranks, only(processors)))
          for (const int processor : place) EXPECT_THAT(processors, testing::Contains(processor));
}

TEST(Binding, NoneBindsNobody) { EXPECT_THAT(placed(Binding::none, 2, only({1, 5})), Each(IsEmpty())); }

TEST(Binding, IsDescribedWithItsPlaceInTheMachine) {
  const auto cores = described_topology(kMachine, only({0, 1, 6}));
  EXPECT_EQ(describe_binding(0, {0, 1}, cores), "rank 0: processors 0, 1 (package 0, NUMA node 0)");
  EXPECT_EQ(describe_binding(12, {6}, cores), "rank 12: processor 6 (package 1, NUMA node 0)");
  EXPECT_EQ(describe_binding(1, {}, cores), "rank 1: not bound");
}

}  // namespace
}  // namespace shoal::detail

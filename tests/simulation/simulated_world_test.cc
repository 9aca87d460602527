// The seed's in-process communicator: its own test, and figures that its own code gave (golden/comm.json). Where P does
// not divide the elements, the seed charges every rank the same fraction of the array; here each rank is charged the
// bytes that it sends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "shoal/simulation.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using Arrays = SimulatedWorld::Arrays;

TEST(SimulatedWorld, ReduceScatterThenAllGatherEqualsAllReduce) {
  constexpr int kRanks = 4;
  Arrays shards;
  for (int i = 0; i < kRanks; ++i) shards.emplace_back(8, static_cast<float>(i + 1));

  SimulatedWorld a(kRanks);
  const std::vector<float> reduced = a.all_reduce_mean(shards)[0];
  SimulatedWorld b(kRanks);
  const std::vector<float> gathered = b.all_gather(b.reduce_scatter_mean(shards))[0];

  EXPECT_EQ(reduced, gathered);
  EXPECT_EQ(reduced, std::vector<float>(8, 2.5F));
  EXPECT_EQ(b.bytes_per_rank(), a.bytes_per_rank());
}

/// As the golden figures were made: rank r has r+1 times 0, 1, 2, ...
Arrays golden_shards(int world, std::size_t count) {
  Arrays shards(static_cast<std::size_t>(world), std::vector<float>(count));
  for (std::size_t rank = 0; rank < shards.size(); ++rank)
    for (std::size_t i = 0; i < count; ++i) shards[rank][i] = static_cast<float>((rank + 1) * i);
  return shards;
}

std::uint64_t total(const SimulatedWorld& world) {
  std::uint64_t sum = 0;
  for (int rank = 0; rank < world.world(); ++rank) sum += world.sent(rank);
  return sum;
}

/// `fraction`, the seed's bytes a rank, is exactly what all ranks here send, on average; and what each sends where the
/// seed's figure is right for each.
void expect_bytes(const SimulatedWorld& world, double fraction, bool even) {
  EXPECT_EQ(static_cast<double>(total(world)), std::round(fraction * world.world()));
  EXPECT_NEAR(fraction * world.world(), std::round(fraction * world.world()), 1e-6);
  if (even) {
    for (int rank = 0; rank < world.world(); ++rank) EXPECT_EQ(static_cast<double>(world.sent(rank)), fraction);
    EXPECT_EQ(static_cast<double>(world.bytes_per_rank()), fraction);
  } else {
    EXPECT_GT(static_cast<double>(world.bytes_per_rank()), fraction);
  }
}

class Golden : public testing::TestWithParam<int> {};

TEST_P(Golden, FiguresOfTheSeedAreThoseOfRealAlgorithms) {
  const auto golden =
      nlohmann::json::parse(std::ifstream(SIMULATION_GOLDEN "/comm.json"))[static_cast<std::size_t>(GetParam())];
  const int ranks = golden["world"];
  const std::size_t count = golden["count"];
  const bool even = count % static_cast<std::size_t>(ranks) == 0;
  SCOPED_TRACE(std::to_string(count) + " over " + std::to_string(ranks));
  const Arrays shards = golden_shards(ranks, count);

  SimulatedWorld reducing(ranks);
  const Arrays means = reducing.all_reduce_mean(shards);
  ASSERT_EQ(means.size(), shards.size());
  for (const auto& mean : means) {
    ASSERT_EQ(mean.size(), count);
    EXPECT_EQ(mean.back(), golden["mean_last"].get<float>());
    EXPECT_EQ(mean, means[0]);
  }
  expect_bytes(reducing, golden["all_reduce_bytes_per_rank"], even);
  EXPECT_EQ(reducing.by_op(), (std::map<std::string, std::uint64_t>{{"all_reduce", total(reducing)}}));

  SimulatedWorld halves(ranks);
  const Arrays parts = halves.reduce_scatter_mean(shards);
  for (std::size_t rank = 0; rank < parts.size(); ++rank)
    EXPECT_EQ(parts[rank].size(), golden["part_sizes"][rank].get<std::size_t>());
  EXPECT_EQ(halves.all_gather(parts), means);
  expect_bytes(halves, golden["reduce_scatter_plus_all_gather_bytes_per_rank"], even);
  std::map<std::string, double> by_op;
  for (const auto& [operation, bytes] : halves.by_op()) by_op[operation] = static_cast<double>(bytes);
  EXPECT_EQ(by_op, (golden["by_op"].get<std::map<std::string, double>>()));
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::Range(0, 8));

TEST(SimulatedWorld, UnevenChunksAreChargedWhatEachRankSends) {
  // 10 floats over 3 ranks: chunks of 16, 12 and 12 bytes. A rank keeps its own chunk back when the sums are formed,
  // and its right neighbour's when they go round.
  SimulatedWorld world(3);
  const Arrays parts = world.reduce_scatter_mean(golden_shards(3, 10));
  EXPECT_EQ(parts, (Arrays{{0, 2, 4, 6}, {8, 10, 12}, {14, 16, 18}}));
  EXPECT_EQ((std::array{world.sent(0), world.sent(1), world.sent(2)}), (std::array<std::uint64_t, 3>{24, 28, 28}));
  EXPECT_EQ(world.all_gather(parts), Arrays(3, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18}));
  EXPECT_EQ((std::array{world.sent(0), world.sent(1), world.sent(2)}), (std::array<std::uint64_t, 3>{52, 56, 52}));
  EXPECT_EQ(world.bytes_per_rank(), 56U);
  EXPECT_EQ(world.by_op(), (std::map<std::string, std::uint64_t>{{"all_gather", 80}, {"reduce_scatter", 80}}));

  world.reset();
  EXPECT_EQ(world.bytes_per_rank(), 0U);
  EXPECT_TRUE(world.by_op().empty());
}

TEST(SimulatedWorld, WorldOfOneAndEmptyArraysMoveNothing) {
  SimulatedWorld one(1);
  EXPECT_EQ(one.all_reduce_mean({{3, 5}}), (Arrays{{3, 5}}));
  EXPECT_EQ(one.reduce_scatter_mean({{3, 5}}), (Arrays{{3, 5}}));
  EXPECT_EQ(one.all_gather({{3, 5}}), (Arrays{{3, 5}}));
  EXPECT_EQ(one.bytes_per_rank(), 0U);
  SimulatedWorld three(3);
  EXPECT_EQ(three.all_reduce_mean(Arrays(3)), Arrays(3));
  EXPECT_EQ(three.all_gather(Arrays(3)), Arrays(3));
  EXPECT_EQ(three.bytes_per_rank(), 0U);
}

TEST(SimulatedWorld, InputsAreLeftAlone) {
  const Arrays shards = golden_shards(3, 7);
  Arrays given = shards;
  SimulatedWorld world(3);
  world.all_reduce_mean(given);
  world.reduce_scatter_mean(given);
  EXPECT_EQ(given, shards);
}

template <class Body>
std::string refusal_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was refused";
}

TEST(SimulatedWorld, ArraysThatDoNotFitAreRefusedByName) {
  SimulatedWorld world(2);
  EXPECT_THAT(refusal_of([] { SimulatedWorld(0); }), HasSubstr("a world of 0 ranks"));
  EXPECT_THAT(refusal_of([&] { world.all_reduce_mean({{1, 2}}); }), HasSubstr("all_reduce_mean: 1 arrays for 2 ranks"));
  EXPECT_THAT(refusal_of([&] {
                world.reduce_scatter_mean({{1}, {2}, {3}});
              }),
              HasSubstr("reduce_scatter_mean: 3 arrays for 2 ranks"));
  EXPECT_THAT(refusal_of([&] {
                world.all_reduce_mean({{1, 2}, {1}});
              }),
              HasSubstr("all_reduce_mean: the array of rank 1 has 1 elements, that of rank 0 2"));
  EXPECT_THAT(refusal_of([&] {
                world.all_gather({{1, 2}, {3, 4, 5}});
              }),
              HasSubstr("all_gather: the part of rank 0 has 2 elements, not 3, its chunk of the 5"));
  EXPECT_THAT(refusal_of([&] { static_cast<void>(world.sent(2)); }), HasSubstr("sent: 2 is none of the 2 ranks"));
  EXPECT_EQ(world.bytes_per_rank(), 0U);
}

}  // namespace
}  // namespace shoal

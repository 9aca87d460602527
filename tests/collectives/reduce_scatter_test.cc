#include "reduction_forms.h"

namespace shoal::test {
namespace {

class ReduceScatter : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, ReduceScatter, every_world(), world_name);

TEST_P(ReduceScatter, LeavesEachRankItsChunkAtEveryCount) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const Algorithm algorithm : ways_to(Operation::reduce_scatter))
          for (const std::size_t count : counts_around(comm.size()))
            for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max})
              expect_reduce_scatter<float>(comm, count, op, algorithm);
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_P(ReduceScatter, KnowsEveryReductionOfEveryType) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for_each_type(AllTypes{}, [&]<class T>() {
          for (const Algorithm algorithm : ways_to(Operation::reduce_scatter))
            for (const ReduceOp op : kAllReductions)
              for (const std::size_t count : {13U, 131U})
                if (can<T>(algorithm, op)) expect_reduce_scatter<T>(comm, count, op, algorithm);
        });
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_P(ReduceScatter, PassesMessagesOfManyTimesTheChannelInSeveralRounds) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const Algorithm algorithm : ways_to(Operation::reduce_scatter))
          for (const std::size_t count : {75'001U, 4096U * 9U * 2U, 4096U * 9U * 2U + 1U})
            expect_reduce_scatter<double>(comm, count, ReduceOp::mean, algorithm);
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(ReduceScatterBlocks, EndTogetherWhereOneChunkIsOneElementLonger) {
  // The longer chunks fill whole rounds and one element more; the shorter ones have nothing left for the last round.
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    for (const std::size_t rounds : {1U, 2U})
      for (const std::size_t longer : {0U, 1U, 2U})
        expect_reduce_scatter<float>(comm, 3 * 8192 * rounds + longer, ReduceOp::sum, {});
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(ReduceScatterRing, UnevenChunksAreSummedAndOnlyForeignBytesSent) {
  const auto ranks = run_ranks(4, [](Communicator& comm) {
    const std::array<std::size_t, 5> bounds{0, 3, 6, 8, 10};  // 10 elements: 3, 3, 2, 2.
    const auto rank = static_cast<std::size_t>(comm.rank());
    std::vector<float> data(10);
    for (std::size_t i = 0; i < 10; ++i) data[i] = 100.0F * static_cast<float>(rank) + static_cast<float>(i);
    const Traffic before = comm.traffic();

    const auto own = reduce_scatter(comm, std::span(data), ReduceOp::sum, {.algorithm = Algorithm::ring});

    ASSERT_EQ(own.size(), bounds[rank + 1] - bounds[rank]);
    for (std::size_t i = 0; i < own.size(); ++i)  // Sum over ranks of 100 r + j is 600 + 4 j.
      EXPECT_EQ(own[i], 600.0F + 4.0F * static_cast<float>(bounds[rank] + i));
    EXPECT_EQ((comm.traffic() - before).sent, (10 - own.size()) * sizeof(float));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(ReduceScatterBytes, AreTheForeignOnesOfEachRankAndInTotalAsManyReceivedAsSent) {
  const std::map<std::pair<int, std::size_t>, std::vector<std::uint64_t>> sent_elements{
      {{1, 12}, {0}}, {{2, 12}, {6, 6}}, {{3, 12}, {8, 8, 8}}, {{4, 12}, {9, 9, 9, 9}},
      {{1, 10}, {0}}, {{2, 10}, {5, 5}}, {{3, 10}, {6, 7, 7}}, {{4, 10}, {7, 7, 8, 8}}};
  for (const auto& [size, sent] : sent_elements) {
    const std::size_t count = size.second;
    const auto ranks = run_ranks(size.first, [count, &sent = sent](Communicator& comm) {
      for (const Algorithm algorithm : {Algorithm::pairwise, Algorithm::ring}) {
        std::vector<float> data(count, 1.0F);
        const Traffic before = comm.traffic();
        reduce_scatter(comm, data, ReduceOp::sum, {.algorithm = algorithm});
        const Traffic moved = comm.traffic() - before;
        EXPECT_EQ(moved.sent, 4 * sent[static_cast<std::size_t>(comm.rank())]);
        std::vector<std::uint64_t> totals{moved.sent, moved.received};
        all_reduce(comm, totals, ReduceOp::sum);
        EXPECT_EQ(totals[0], totals[1]);
        EXPECT_EQ(totals[0], 4 * count * static_cast<std::size_t>(comm.size() - 1));
      }
    });
    EXPECT_TRUE(ranks.all_passed()) << "count " << count << '\n' << ranks;
  }
}

TEST(ReduceScatterHalving, MovesHalvesAndTheOuterRanksWholeVectors) {
  // 6 f32 over 6. 4 and 5 hand 24 bytes in to 0 and 1; blocks are {0 4} {1 5} {2} {3}. At distance 2, ranks 0 and 1
  // give {2} {3} and keep {0 4} {1 5}; at distance 1 rank 0 gives {1 5}. Then 0 and 1 hand chunks 4 and 5 out.
  const auto ranks = run_ranks(6, [](Communicator& comm) {
    const std::array<std::uint64_t, 6> sent{8 + 8 + 4, 8 + 8 + 4, 16 + 4, 16 + 4, 24, 24};
    const std::array<std::uint64_t, 6> received{24 + 16 + 8, 24 + 16 + 8, 8 + 4, 8 + 4, 4, 4};
    const auto rank = static_cast<std::size_t>(comm.rank());
    std::vector<float> data(6);
    for (std::size_t i = 0; i < 6; ++i) data[i] = static_cast<float>(10 * rank + i);
    const Traffic before = comm.traffic();
    const auto own = reduce_scatter(comm, data, ReduceOp::sum, {.algorithm = Algorithm::recursive_halving});
    EXPECT_EQ((comm.traffic() - before).sent, sent[rank]);
    EXPECT_EQ((comm.traffic() - before).received, received[rank]);
    EXPECT_EQ(own[0], 150.0F + 6.0F * static_cast<float>(rank));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(ReduceScatterShards, JoinToTheSerialSum) {
  for (const auto& [count, world] : {std::pair{10, 4}, std::pair{16, 6}, std::pair{12, 4}}) {
    const auto ranks = run_ranks(world, [count = static_cast<std::size_t>(count)](Communicator& comm) {
      std::vector<std::int64_t> data(count);
      for (std::size_t i = 0; i < count; ++i) data[i] = 1000 * (comm.rank() + 1) + static_cast<std::int64_t>(i * i);
      const auto own = reduce_scatter(comm, data, ReduceOp::sum);
      std::vector<std::int64_t> joined(count);
      all_gather(comm, own, joined);
      const std::int64_t p = comm.size();
      for (std::size_t i = 0; i < count; ++i)  // 1000 (1 + 2 + ... + P) + P i^2.
        EXPECT_EQ(joined[i], 500 * p * (p + 1) + p * static_cast<std::int64_t>(i * i));
    });
    EXPECT_TRUE(ranks.all_passed()) << ranks;
  }
}

}  // namespace
}  // namespace shoal::test

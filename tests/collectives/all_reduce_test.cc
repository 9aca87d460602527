#include <numeric>

#include "reduction_forms.h"

namespace shoal::test {
namespace {

class AllReduce : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, AllReduce, every_world(), world_name);

TEST_P(AllReduce, GivesEveryRankTheReductionAtEveryCount) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const Algorithm algorithm : ways_to(Operation::all_reduce))
          for (const std::size_t count : counts_around(comm.size()))
            for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean})
              expect_all_reduce<float>(comm, count, op, algorithm);
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_P(AllReduce, KnowsEveryReductionOfEveryType) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for_each_type(AllTypes{}, [&]<class T>() {
          for (const Algorithm algorithm : ways_to(Operation::all_reduce))
            for (const ReduceOp op : kAllReductions)
              for (const std::size_t count : {13U, 131U})
                if (can<T>(algorithm, op)) expect_all_reduce<T>(comm, count, op, algorithm);
        });
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_P(AllReduce, PassesMessagesOfManyTimesTheChannelInSeveralRounds) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const Algorithm algorithm : ways_to(Operation::all_reduce))
          for (const std::size_t count : {150'001U, 8192U * 9U * 2U, 8192U * 9U * 2U + 1U})
            expect_all_reduce<float>(comm, count, ReduceOp::sum, algorithm);
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(AllReduceBytes, AreTwiceTheVectorLessTwoChunks) {
  // 10 f32 over 4: chunks of 12, 12, 8, 8 bytes. A rank sends all but its own, then all but its right neighbour's.
  const auto ranks = run_ranks(4, [](Communicator& comm) {
    const std::array<std::uint64_t, 4> sent{28 + 28, 28 + 32, 32 + 32, 32 + 28};
    // By pairwise three parts of its own chunk; by the ring all but the left neighbour's. Then all but its own.
    const std::array<std::uint64_t, 4> received_by_pairwise{36 + 28, 36 + 28, 24 + 32, 24 + 32};
    const std::array<std::uint64_t, 4> received_by_ring{32 + 28, 28 + 28, 28 + 32, 32 + 32};
    const auto rank = static_cast<std::size_t>(comm.rank());
    for (const Algorithm algorithm : {Algorithm::pairwise, Algorithm::ring}) {
      std::vector<float> data(10);
      for (std::size_t i = 0; i < 10; ++i) data[i] = static_cast<float>(100 * rank + i);
      const Traffic before = comm.traffic();
      all_reduce(comm, data, ReduceOp::sum, {.algorithm = algorithm});
      const Traffic moved = comm.traffic() - before;
      EXPECT_EQ(moved.sent, sent[rank]);
      EXPECT_EQ(moved.received, (algorithm == Algorithm::ring ? received_by_ring : received_by_pairwise)[rank]);
      for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(data[i], 600.0F + 4.0F * static_cast<float>(i));
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(AllReduceValues, OfTheSeedsDemonstration) {
  // The mean over four ranks of 10 r + x, x = 0 .. 7: 15 + x.
  const auto ranks = run_ranks(4, [](Communicator& comm) {
    std::vector<double> data(8);
    std::iota(data.begin(), data.end(), 10.0 * comm.rank());
    all_reduce(comm, data, ReduceOp::mean);
    EXPECT_EQ(data, (std::vector<double>{15, 16, 17, 18, 19, 20, 21, 22}));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(AllReduceValues, OfIntegersWrapInSumsAndAreExactInMeans) {
  const auto two = run_ranks(2, [](Communicator& comm) {
    std::vector<std::int32_t> greatest(5, 2147483647);
    all_reduce(comm, greatest, ReduceOp::mean);
    EXPECT_EQ(greatest, std::vector<std::int32_t>(5, 2147483647));

    std::vector<std::int8_t> sum(5, comm.rank() == 0 ? 120 : 100);
    all_reduce(comm, sum, ReduceOp::sum);
    EXPECT_EQ(sum, std::vector<std::int8_t>(5, -36));
  });
  EXPECT_TRUE(two.all_passed()) << two;

  const auto three = run_ranks(3, [](Communicator& comm) {
    const std::array<std::int32_t, 3> factors{1, 2, 4};
    const std::int32_t mine = factors[static_cast<std::size_t>(comm.rank())];
    std::vector<std::int32_t> data{7, mine, -mine, -mine * 1000, mine - 2};  // 21/3, 7/3, -7/3, -7000/3, 1/3
    all_reduce(comm, data, ReduceOp::mean);
    EXPECT_EQ(data, (std::vector<std::int32_t>{7, 2, -2, -2333, 0}));
  });
  EXPECT_TRUE(three.all_passed()) << three;
}

}  // namespace
}  // namespace shoal::test

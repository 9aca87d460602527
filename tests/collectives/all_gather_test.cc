#include <map>

#include "moving_forms.h"

namespace shoal::test {
namespace {

class AllGather : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, AllGather, every_world(), world_name);

TEST_P(AllGather, JoinsTheChunksInRankOrderOnEveryRank) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const Algorithm algorithm : ways_to(Operation::all_gather)) {
          for (const bool in_place : {false, true}) {
            for (const std::size_t count : counts_around(comm.size()))
              expect_all_gather<float>(comm, count, in_place, algorithm);
            for_each_type(AllTypes{}, [&]<class T>() { expect_all_gather<T>(comm, 131, in_place, algorithm); });
            expect_all_gather<double>(comm, 100'003, in_place, algorithm);
          }
        }
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(AllGatherBytes, AreAllButTheRightNeighboursChunkOutAndAllButTheOwnIn) {
  // 10 f32 over 4: chunks of 12, 12, 8, 8 bytes.
  const auto ranks = run_ranks(4, [](Communicator& comm) {
    const std::array<std::uint64_t, 4> sent{28, 32, 32, 28};
    const std::array<std::uint64_t, 4> received{28, 28, 32, 32};
    const auto rank = static_cast<std::size_t>(comm.rank());
    std::vector<float> out(10);
    const Traffic before = comm.traffic();
    all_gather(comm, std::vector<float>(rank < 2 ? 3 : 2, static_cast<float>(rank)), out,
               {.algorithm = Algorithm::ring});
    EXPECT_EQ((comm.traffic() - before).sent, sent[rank]);
    EXPECT_EQ((comm.traffic() - before).received, received[rank]);
    EXPECT_EQ(out, (std::vector<float>{0, 0, 0, 1, 1, 1, 2, 2, 3, 3}));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(AllGatherBytes, AreThoseOfTheTextbookWhereTheRanksDivideTheCountAndExactWhereTheyDoNot) {
  // Elements that each rank sends by the ring: all chunks but its right neighbour's. 12 over 3: 4, 4, 4; 10 over 3: 4,
  // 3, 3.
  const std::map<std::pair<int, std::size_t>, std::vector<std::uint64_t>> sent_elements{
      {{1, 12}, {0}}, {{2, 12}, {6, 6}}, {{3, 12}, {8, 8, 8}}, {{4, 12}, {9, 9, 9, 9}},
      {{1, 10}, {0}}, {{2, 10}, {5, 5}}, {{3, 10}, {7, 7, 6}}, {{4, 10}, {7, 8, 8, 7}}};
  for (const auto& [size, sent] : sent_elements) {
    const std::size_t count = size.second;
    const auto ranks = run_ranks(size.first, [count, &sent = sent](Communicator& comm) {
      const auto whole = values_of<float>(9, count);
      auto out = blank<float>(count);
      const Traffic before = comm.traffic();
      all_gather(comm, chunk_of(whole, comm.rank(), comm.size()), out, {.algorithm = Algorithm::ring});
      const Traffic gathered = comm.traffic() - before;
      EXPECT_EQ(gathered.sent, 4 * sent[static_cast<std::size_t>(comm.rank())]);
      EXPECT_TRUE(same_bits(whole, out));
      // An all-reduce is a reduce-scatter, whose bytes ReduceScatterBytes has, and this.
      const std::size_t own = chunk_of(whole, comm.rank(), comm.size()).size();
      auto data = values_of<float>(comm.rank(), count);
      const Traffic between = comm.traffic();
      all_reduce(comm, data, ReduceOp::sum, {.algorithm = Algorithm::pairwise});
      EXPECT_EQ((comm.traffic() - between).sent, 4 * (count - own) + gathered.sent);
      std::vector<std::uint64_t> totals{comm.traffic().sent - before.sent, comm.traffic().received - before.received};
      all_reduce(comm, totals, ReduceOp::sum);
      EXPECT_EQ(totals[0], totals[1]);
      EXPECT_EQ(totals[0], 4 * 3 * count * static_cast<std::size_t>(comm.size() - 1));
    });
    EXPECT_TRUE(ranks.all_passed()) << ranks;
  }
}

TEST(AllGatherBytes, OfDoublingAndBruckAreThoseOfTheirLevels) {
  // 5 ranks, 7 f32: chunks of 8, 8, 4, 4, 4 bytes. Doubling: 1 stands behind 0; members are {0 1}, 2, 3, 4.
  //   1 > 0: 8.  {0 1} <> 2, 3 <> 4.  {0 1} 2 <> 3 4, the latter between 0 and 3, 2 and 4.  0 > 1: 28.
  // Bruck: the own chunk, then two from the own on, then one more.
  const auto ranks = run_ranks(5, [](Communicator& comm) {
    const std::array<std::uint64_t, 5> doubling_sent{16 + 20 + 28, 8, 4 + 20, 4 + 8, 4 + 8};
    const std::array<std::uint64_t, 5> doubling_received{8 + 4 + 8, 28, 16 + 8, 4 + 20, 4 + 20};
    const std::array<std::uint64_t, 5> bruck_sent{8 + 16 + 8, 8 + 12 + 8, 4 + 8 + 4, 4 + 8 + 4, 4 + 12 + 4};
    const auto rank = static_cast<std::size_t>(comm.rank());
    const std::vector<float> in(rank < 2 ? 2 : 1, static_cast<float>(rank));
    std::vector<float> out(7);
    const Traffic before = comm.traffic();
    all_gather(comm, in, out, {.algorithm = Algorithm::recursive_doubling});
    const Traffic doubling = comm.traffic() - before;
    EXPECT_EQ(doubling.sent, doubling_sent[rank]);
    EXPECT_EQ(doubling.received, doubling_received[rank]);
    EXPECT_EQ(out, (std::vector<float>{0, 0, 1, 1, 2, 3, 4}));
    all_gather(comm, in, out, {.algorithm = Algorithm::bruck});
    const Traffic bruck = comm.traffic() - before - doubling;
    EXPECT_EQ(bruck.sent, bruck_sent[rank]);
    EXPECT_EQ(bruck.received, 28 - 4 * in.size());
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

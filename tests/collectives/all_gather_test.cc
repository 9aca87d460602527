#include "moving_forms.h"

namespace shoal::test {
namespace {

class AllGather : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, AllGather, every_world(), world_name);

TEST_P(AllGather, JoinsTheChunksInRankOrderOnEveryRank) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const bool in_place : {false, true}) {
          for (const std::size_t count : counts_around(comm.size())) expect_all_gather<float>(comm, count, in_place);
          for_each_type(AllTypes{}, [&]<class T>() { expect_all_gather<T>(comm, 131, in_place); });
          expect_all_gather<double>(comm, 100'003, in_place);
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
    all_gather(comm, std::vector<float>(rank < 2 ? 3 : 2, static_cast<float>(rank)), out);
    EXPECT_EQ((comm.traffic() - before).sent, sent[rank]);
    EXPECT_EQ((comm.traffic() - before).received, received[rank]);
    EXPECT_EQ(out, (std::vector<float>{0, 0, 0, 1, 1, 1, 2, 2, 3, 3}));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

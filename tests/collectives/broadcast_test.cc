#include "moving_forms.h"

namespace shoal::test {
namespace {

class Broadcast : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, Broadcast, every_world(), world_name);

TEST_P(Broadcast, GivesEveryRankTheRootsDataFromAnyRoot) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const Algorithm algorithm : ways_to(Operation::broadcast)) {
          for (const std::size_t count : counts_around(comm.size()))
            for (int root = 0; root < comm.size(); ++root) expect_broadcast<float>(comm, count, root, algorithm);
          for_each_type(AllTypes{}, [&]<class T>() { expect_broadcast<T>(comm, 131, comm.size() - 1, algorithm); });
        }
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_P(Broadcast, PassesMessagesOfManyTimesTheChannel) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const Algorithm algorithm : ways_to(Operation::broadcast))
          expect_broadcast<std::uint8_t>(comm, 1'000'003, comm.size() / 2, algorithm);
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(BroadcastBlocks, AreAsManyAsTheDataFillsAndOneForNone) {
  // Blocks of 32 KiB: 8,192 f32.
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    for (const std::size_t count : {0U, 8191U, 8192U, 8193U, 3U * 8192U, 3U * 8192U + 1U})
      for (int root = 0; root < 3; ++root) expect_broadcast<float>(comm, count, root, Algorithm::pipelined);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(BroadcastBytes, AreThoseOfATreeOrAChain) {
  // 7 ranks, root 2; places are counted from the root. Place 0 sends to 1, 2, 4; 1 to 3, 5; 2 to 6; the rest to none.
  const auto ranks = run_ranks(7, [](Communicator& comm) {
    const std::array<std::uint64_t, 7> sends_by_place{3, 2, 1, 0, 0, 0, 0};
    const auto place = static_cast<std::size_t>((comm.rank() + 7 - 2) % 7);
    std::vector<float> data(10, static_cast<float>(comm.rank()));
    const Traffic before = comm.traffic();
    broadcast(comm, data, 2, {.algorithm = Algorithm::binomial});
    const Traffic moved = comm.traffic() - before;
    EXPECT_EQ(moved.sent, 40 * sends_by_place[place]);
    EXPECT_EQ(moved.received, place == 0 ? 0U : 40U);
    EXPECT_EQ(data, std::vector<float>(10, 2.0F));

    // Along the chain 2, 3, ..., 6, 0, 1 all but the last send it once.
    broadcast(comm, data, 2, {.algorithm = Algorithm::pipelined});
    const Traffic passed = comm.traffic() - before - moved;
    EXPECT_EQ(passed.sent, comm.rank() == 1 ? 0U : 40U);
    EXPECT_EQ(passed.received, place == 0 ? 0U : 40U);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

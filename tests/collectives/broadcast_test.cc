#include "moving_forms.h"

namespace shoal::test {
namespace {

class Broadcast : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, Broadcast, every_world(), world_name);

TEST_P(Broadcast, GivesEveryRankTheRootsDataFromAnyRoot) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const std::size_t count : counts_around(comm.size()))
          for (int root = 0; root < comm.size(); ++root) expect_broadcast<float>(comm, count, root);
        for_each_type(AllTypes{}, [&]<class T>() { expect_broadcast<T>(comm, 131, comm.size() - 1); });
        expect_broadcast<double>(comm, 4099, comm.size() / 2, {.algorithm = Algorithm::binomial});
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_P(Broadcast, PassesMessagesOfManyTimesTheChannel) {
  const auto ranks = run_ranks(
      GetParam(), [](Communicator& comm) { expect_broadcast<std::uint8_t>(comm, 1'000'003, comm.size() / 2); },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(BroadcastBytes, AreThoseOfABinomialTree) {
  // 7 ranks, root 2; places are counted from the root. Place 0 sends to 1, 2, 4; 1 to 3, 5; 2 to 6; the rest to none.
  const auto ranks = run_ranks(7, [](Communicator& comm) {
    const std::array<std::uint64_t, 7> sends_by_place{3, 2, 1, 0, 0, 0, 0};
    const auto place = static_cast<std::size_t>((comm.rank() + 7 - 2) % 7);
    std::vector<float> data(10, static_cast<float>(comm.rank()));
    const Traffic before = comm.traffic();
    broadcast(comm, data, 2);
    const Traffic moved = comm.traffic() - before;
    EXPECT_EQ(moved.sent, 40 * sends_by_place[place]);
    EXPECT_EQ(moved.received, place == 0 ? 0U : 40U);
    EXPECT_EQ(data, std::vector<float>(10, 2.0F));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

#include "moving_forms.h"

namespace shoal::test {
namespace {

class AllToAll : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, AllToAll, every_world(), world_name);

TEST_P(AllToAll, TransposesChunksUnevenOnesToo) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const Algorithm algorithm : ways_to(Operation::all_to_all)) {
          for (const std::size_t count : counts_around(comm.size())) expect_all_to_all<float>(comm, count, algorithm);
          for_each_type(AllTypes{}, [&]<class T>() {
            for (const std::size_t count : {13U, 131U}) expect_all_to_all<T>(comm, count, algorithm);
          });
        }
        expect_all_to_all<double>(comm, 100'003);
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(AllToAllBytes, AreTheForeignChunks) {
  // The seed's demonstration: rank r has 10 r + 0 .. 7; chunks of two, of which three go to others.
  const auto ranks = run_ranks(4, [](Communicator& comm) {
    std::vector<int> in;
    for (int i = 0; i < 8; ++i) in.push_back(10 * comm.rank() + i);
    std::vector<int> out(8);
    const Traffic before = comm.traffic();
    all_to_all(comm, in, out);
    EXPECT_EQ((comm.traffic() - before).sent, 24U);
    EXPECT_EQ((comm.traffic() - before).received, 24U);
    const int own = 2 * comm.rank();
    EXPECT_EQ(out, (std::vector<int>{own, own + 1, 10 + own, 11 + own, 20 + own, 21 + own, 30 + own, 31 + own}));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

#include "moving_forms.h"

namespace shoal::test {
namespace {

class Scatter : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, Scatter, every_world(), world_name);
class ScatterCyclic : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, ScatterCyclic, every_world(), world_name);

RanksResult run_scatters(int world, bool cyclic) {
  return run_ranks(
      world,
      [cyclic](Communicator& comm) {
        for (const Algorithm algorithm : ways_to(cyclic ? Operation::scatter_cyclic : Operation::scatter)) {
          for (const std::size_t count : counts_around(comm.size()))
            for (int root = 0; root < comm.size(); ++root) expect_scatter<float>(comm, count, root, cyclic, algorithm);
          for_each_type(AllTypes{},
                        [&]<class T>() { expect_scatter<T>(comm, 131, comm.size() - 1, cyclic, algorithm); });
          expect_scatter<double>(comm, 100'003, comm.size() / 2, cyclic, algorithm);
        }
      },
      small_channel());
}

TEST_P(Scatter, HandsOutConsecutiveChunksFromAnyRoot) {
  const auto ranks = run_scatters(GetParam(), false);
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_P(ScatterCyclic, DealsEveryPthElementFromAnyRoot) {
  const auto ranks = run_scatters(GetParam(), true);
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(ScatterLengths, ThatAreNotThoseOfTheChunkAreFoundByTheRankThatPassesThemOn) {
  // 10 elements over 4 are 3, 3, 2, 2; rank 2 has room for one more, or one less.
  for (const std::size_t room : {1U, 3U}) {
    const auto ranks = run_ranks(4, [room](Communicator& comm) {
      const std::array<std::size_t, 4> sizes{3, 3, room, 2};
      std::vector<float> out(sizes[static_cast<std::size_t>(comm.rank())]);
      try {
        scatter(comm, std::vector<float>(comm.rank() == 0 ? 10 : 0), out, 0, {.algorithm = Algorithm::binomial});
        barrier(comm);
        ADD_FAILURE() << "not found";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::mismatch);
        const std::string text = "rank 2: mismatch in scatter (binomial): out has " + std::to_string(room) +
                                 " elements, and 2 came for it from peer 0";
        EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
        if (comm.rank() == 2) {
          EXPECT_EQ(error.what(), text);
        }
      }
    });
    EXPECT_TRUE(ranks.checks_passed()) << ranks;
  }
}

TEST(ScatterBytes, AreTheForeignChunksInBothWays) {
  // 10 i16 over 4, root 2: chunks and hands of 3, 3, 2, 2 elements; the root sends 8 of them.
  const auto ranks = run_ranks(4, [](Communicator& comm) {
    const std::array<std::vector<std::int16_t>, 4> chunks{{{0, 1, 2}, {3, 4, 5}, {6, 7}, {8, 9}}};
    const std::array<std::vector<std::int16_t>, 4> hands{{{0, 4, 8}, {1, 5, 9}, {2, 6}, {3, 7}}};
    const auto rank = static_cast<std::size_t>(comm.rank());
    std::vector<std::int16_t> in;
    if (comm.rank() == 2) in = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    std::vector<std::int16_t> out(chunks[rank].size());
    for (const bool cyclic : {false, true}) {
      const Traffic before = comm.traffic();
      if (cyclic) {
        scatter_cyclic(comm, in, out, 2);
      } else {
        scatter(comm, in, out, 2);
      }
      const Traffic moved = comm.traffic() - before;
      EXPECT_EQ(moved.sent, comm.rank() == 2 ? 16U : 0U);
      EXPECT_EQ(moved.received, comm.rank() == 2 ? 0U : 2 * out.size());
      EXPECT_EQ(out, (cyclic ? hands : chunks)[rank]);
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

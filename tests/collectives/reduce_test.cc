#include "reduction_forms.h"

namespace shoal::test {
namespace {

class Reduce : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, Reduce, every_world(), world_name);

TEST_P(Reduce, GivesAnyRootTheReductionAtEveryCountAndLeavesInputsAlone) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const Algorithm algorithm : ways_to(Operation::reduce))
          for (const std::size_t count : counts_around(comm.size()))
            for (int root = 0; root < comm.size(); ++root)
              expect_reduce<float>(comm, count, ReduceOp::sum, algorithm, root);
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_P(Reduce, KnowsEveryReductionOfEveryType) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for_each_type(AllTypes{}, [&]<class T>() {
          for (const Algorithm algorithm : ways_to(Operation::reduce))
            for (const ReduceOp op : kAllReductions)
              if (can<T>(algorithm, op)) expect_reduce<T>(comm, 131, op, algorithm, comm.size() / 2);
        });
        expect_reduce<double>(comm, 100'003, ReduceOp::mean, {}, comm.size() - 1);
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(ReduceBytes, AreOneVectorFromEachRankButTheRootByTheTree) {
  // 6 ranks, 10 f32. Root 0: 4 and 5 send to 0 and 1, 2 and 3 too, then 1. Root 2: 4 > 0, 5 > 1, 0 > 2, 1 > 3, 3 > 2.
  // Root 5, which acts for 1: 4 > 0, 1 > 5, 2 > 0, 3 > 5, 0 > 5.
  const std::map<int, std::array<std::uint64_t, 6>> received_vectors{
      {0, {3, 2, 0, 0, 0, 0}}, {2, {1, 1, 2, 1, 0, 0}}, {5, {2, 0, 0, 0, 0, 3}}};
  const auto ranks = run_ranks(6, [&](Communicator& comm) {
    for (const auto& [root, received] : received_vectors) {
      std::vector<float> out(comm.rank() == root ? 10 : 0);
      const Traffic before = comm.traffic();
      reduce(comm, std::vector<float>(10, static_cast<float>(comm.rank())), out, ReduceOp::sum, root,
             {.algorithm = Algorithm::binomial});
      EXPECT_EQ((comm.traffic() - before).sent, comm.rank() == root ? 0U : 40U);
      EXPECT_EQ((comm.traffic() - before).received, 40 * received[static_cast<std::size_t>(comm.rank())]);
      EXPECT_EQ(out, std::vector<float>(comm.rank() == root ? 10 : 0, 15.0F));
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(ReduceBytes, AreTheForeignPartsAndThenTheChunksToTheRoot) {
  // 10 f32 over 4, root 1: chunks of 12, 12, 8, 8 bytes. Reduce-scatter: a rank sends all but its own chunk and
  // receives three parts of it; then the root receives the other three chunks.
  const auto ranks = run_ranks(4, [](Communicator& comm) {
    const std::array<std::uint64_t, 4> sent{28 + 12, 28, 32 + 8, 32 + 8};
    const std::array<std::uint64_t, 4> received{36, 36 + 28, 24, 24};
    const auto rank = static_cast<std::size_t>(comm.rank());
    const std::vector<float> in(10, static_cast<float>(rank + 1));
    std::vector<float> out(comm.rank() == 1 ? 10 : 0);
    const Traffic before = comm.traffic();
    reduce(comm, in, out, ReduceOp::prod, 1, {.algorithm = Algorithm::pairwise});
    EXPECT_EQ((comm.traffic() - before).sent, sent[rank]);
    EXPECT_EQ((comm.traffic() - before).received, received[rank]);
    if (comm.rank() == 1) {
      EXPECT_EQ(out, std::vector<float>(10, 24.0F));
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

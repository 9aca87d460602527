#include "reduction_forms.h"

namespace shoal::test {
namespace {

class Reduce : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, Reduce, every_world(), world_name);

TEST_P(Reduce, GivesAnyRootTheReductionAtEveryCountAndLeavesInputsAlone) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const Asked algorithm : kWaysToReduce)
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
          for (const Asked algorithm : kWaysToReduce)
            for (const ReduceOp op : kAllReductions)
              if (can<T>(algorithm.used, op)) expect_reduce<T>(comm, 131, op, algorithm, comm.size() / 2);
        });
        expect_reduce<double>(comm, 100'003, ReduceOp::mean, {}, comm.size() - 1);
      },
      small_channel());
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
    reduce(comm, in, out, ReduceOp::prod, 1);
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

// The v-operations: every rank has its own length. B63's zeros among them, B42's lists.

#include "shoal/runtime/simulation.h"
#include "v_forms.h"

namespace shoal::test {
namespace {

class VOperations : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, VOperations, every_world(), world_name);

TEST_P(VOperations, MoveLengthsOfAnyKindOfEveryType) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for_each_type(AllTypes{}, [&]<class T>() { expect_v_operations<T>(comm, 1); });
        expect_all_to_all_v<double>(comm, uneven_rows(comm.size(), 1000));
        for (int root = 0; root < comm.size(); ++root) {
          expect_gather_v<float>(comm, lists_of_counts(comm.size())[2], root, false);
          expect_scatter_v<float>(comm, lists_of_counts(comm.size())[2], root, false);
        }
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_P(VOperations, AreRightWhateverTheScheduleAndTheChannel) {
  for (const std::uint64_t channel_bytes : {0U, 16U, 256U, 65536U}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const auto result = simulate(GetParam(), [](Communicator& comm) { expect_v_operations<std::int32_t>(comm, 3); },
                                   {.seed = seed, .channel_bytes = channel_bytes});
      ASSERT_TRUE(result.ok() && !HasFailure()) << "channel of " << channel_bytes << " bytes\n" << result;
    }
  }
}

TEST(AllToAllV, MovesTheFieldsExample) {
  // Sends [[0,2,1],[3,0,0],[1,1,4]], receives [0,3,1],[2,0,1],[1,0,4].
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    const std::array<Counts, 3> sends{{{0, 2, 1}, {3, 0, 0}, {1, 1, 4}}};
    const std::array<Counts, 3> receives{{{0, 3, 1}, {2, 0, 1}, {1, 0, 4}}};
    const std::array<std::vector<int>, 3> in{{{1, 2, 3}, {11, 12, 13}, {21, 22, 23, 24, 25, 26}}};
    const std::array<std::vector<int>, 3> expected{{{11, 12, 13, 21}, {1, 2, 22}, {3, 23, 24, 25, 26}}};
    const std::array<std::uint64_t, 3> sent{12, 12, 8};
    const std::array<std::uint64_t, 3> received{16, 12, 4};
    const auto rank = static_cast<std::size_t>(comm.rank());
    std::vector<int> out(expected[rank].size());
    const Traffic before = comm.traffic();
    all_to_all_v(comm, in[rank], sends[rank], out, receives[rank]);
    EXPECT_EQ(out, expected[rank]);
    EXPECT_EQ((comm.traffic() - before).sent, sent[rank]);
    EXPECT_EQ((comm.traffic() - before).received, received[rank]);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(AllGatherV, SendsAllButTheRightNeighboursChunk) {
  // Chunks of 1, 0 and 4 i64: 8, 0 and 32 bytes.
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    const std::array<std::vector<std::int64_t>, 3> in{{{5}, {}, {6, 7, 8, 9}}};
    const std::array<std::uint64_t, 3> sent{40, 8, 32};
    const std::array<std::uint64_t, 3> received{32, 40, 8};
    const auto rank = static_cast<std::size_t>(comm.rank());
    std::vector<std::int64_t> out(5);
    const Traffic before = comm.traffic();
    all_gather_v(comm, in[rank], out, Counts{1, 0, 4});
    EXPECT_EQ(out, (std::vector<std::int64_t>{5, 6, 7, 8, 9}));
    EXPECT_EQ((comm.traffic() - before).sent, sent[rank]);
    EXPECT_EQ((comm.traffic() - before).received, received[rank]);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(VOperationsOfNothing, TakeItFromNowhere) {
  for (int world = 1; world <= 5; ++world) {
    const auto ranks = run_ranks(world, [](Communicator& comm) {
      const std::span<double> none;
      ASSERT_EQ(none.data(), nullptr);
      const Counts zeros(static_cast<std::size_t>(comm.size()), 0);
      const Traffic before = comm.traffic();
      for (int root = 0; root < comm.size(); ++root) {
        all_gather_v(comm, none, none, zeros);
        gather_v(comm, none, none, zeros, root);
        scatter_v(comm, none, none, zeros, root);
        all_to_all_v(comm, none, zeros, none, zeros);
        // One rank alone has something; the others pass null pointers with 0.
        Counts one = zeros;
        one[static_cast<std::size_t>(root)] = 1;
        const bool mine = comm.rank() == root;
        double value = mine ? 2.5 : 0.0;
        const auto own = mine ? std::span(&value, 1) : none;
        std::vector<double> all(1);
        all_gather_v(comm, own, all, one);
        EXPECT_EQ(all[0], 2.5);
      }
      const auto p = static_cast<std::uint64_t>(comm.size());
      EXPECT_EQ((comm.traffic() - before).received, 8 * (p - 1));  // From each rank but itself, one double.
    });
    EXPECT_TRUE(ranks.all_passed()) << ranks;
  }
}

TEST(VOperationsOfOneRank, CopyAndMoveNothing) {
  const auto ranks = run_ranks(1, [](Communicator& comm) {
    const std::vector<float> in{1, 2, 3};
    const Counts counts{3};
    const Traffic before = comm.traffic();
    std::vector<float> out(3);
    all_gather_v(comm, in, out, counts);
    EXPECT_EQ(out, in);
    for (auto operation : {0, 1, 2}) {
      out.assign(3, 0);
      if (operation == 0) gather_v(comm, in, out, counts);
      if (operation == 1) scatter_v(comm, in, out, counts);
      if (operation == 2) all_to_all_v(comm, in, counts, out, counts);
      EXPECT_EQ(out, in) << operation;
    }
    EXPECT_EQ((comm.traffic() - before).sent, 0U);
    EXPECT_EQ((comm.traffic() - before).received, 0U);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

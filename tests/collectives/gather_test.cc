#include <memory_resource>
#include <thread>

#include "moving_forms.h"

namespace shoal::test {
namespace {

class Gather : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, Gather, every_world(), world_name);

TEST_P(Gather, JoinsTheChunksInRankOrderAtAnyRoot) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const Algorithm algorithm : ways_to(Operation::gather)) {
          for (const std::size_t count : counts_around(comm.size()))
            for (int root = 0; root < comm.size(); ++root) expect_gather<float>(comm, count, root, algorithm);
          for_each_type(AllTypes{}, [&]<class T>() { expect_gather<T>(comm, 131, comm.size() - 1, algorithm); });
          expect_gather<double>(comm, 100'003, comm.size() / 2, algorithm);
        }
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(GatherLengths, ThatFitNoVectorAreFoundWhereTheyMeet) {
  // 10 elements over 4 are 3, 3, 2, 2. Here ranks 2 and 3 have 3 and 1, which are 4 together, too.
  const auto ranks = run_ranks(4, [](Communicator& comm) {
    const std::array<std::size_t, 4> sizes{3, 3, 3, 1};
    std::vector<float> out(comm.rank() == 0 ? 10 : 0);
    try {
      gather(comm, std::vector<float>(sizes[static_cast<std::size_t>(comm.rank())]), out, 0,
             {.algorithm = Algorithm::binomial});
      barrier(comm);
      ADD_FAILURE() << "not found";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::mismatch);
      const std::string text =
          "rank 2: mismatch in gather (binomial): in has 3 elements, and 1 came from peer 3 for 1 of the ranks: no "
          "vector "
          "has such chunks";
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
      if (comm.rank() == 2) {
        EXPECT_EQ(error.what(), text);
      }
    }
  });
  EXPECT_TRUE(ranks.checks_passed()) << ranks;
}

TEST(GatherBytes, AreTheForeignChunks) {
  // 10 f32 over 4: chunks of 3, 3, 2, 2; the root, rank 1, receives 7 elements.
  const auto ranks = run_ranks(4, [](Communicator& comm) {
    const std::array<std::size_t, 4> sizes{3, 3, 2, 2};
    const std::vector<float> in(sizes[static_cast<std::size_t>(comm.rank())], static_cast<float>(10 + comm.rank()));
    std::vector<float> out(comm.rank() == 1 ? 10 : 0);
    const Traffic before = comm.traffic();
    gather(comm, in, out, 1);
    const Traffic moved = comm.traffic() - before;
    EXPECT_EQ(moved.received, comm.rank() == 1 ? 28U : 0U);
    EXPECT_EQ(moved.sent, comm.rank() == 1 ? 0U : 4 * in.size());
    if (comm.rank() == 1) {
      EXPECT_EQ(out, (std::vector<float>{10, 10, 10, 11, 11, 11, 12, 12, 13, 13}));
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

// A long chunk is copied by its sender where the root has said where it wants it, else by the root.
TEST(GatherOfLongChunks, IsRightWhoeverIsLateAndWhereverTheyLie) {
  constexpr std::size_t kCount = 6 * 4096 + 1;  // Chunks of eight times the channel.
  const auto ranks = run_sessions(
      3,
      [](Session& session) {
        Communicator& comm = session.world();
        auto* const own = std::pmr::new_delete_resource();
        for (int repeat = 0; repeat < 60; ++repeat) {
          const int root = repeat % 3;
          const bool late = repeat / 3 % 3 == 0 || (repeat / 3 % 3 == 1) == (comm.rank() == root);
          auto* const memory = (repeat >> comm.rank()) % 2 == 0 ? own : session.heap();
          const auto whole = values_of<float>(repeat, kCount);
          const auto chunk = chunk_of(whole, comm.rank(), comm.size());
          const std::pmr::vector<float> in(chunk.begin(), chunk.end(), memory);
          std::pmr::vector<float> out(comm.rank() == root ? kCount : 0, memory);
          if (late) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          gather(comm, in, out, root, {.algorithm = Algorithm::linear});
          if (comm.rank() == root) {
            EXPECT_TRUE(same_bits(whole, std::vector<float>(out.begin(), out.end()))) << repeat;
          }
        }
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

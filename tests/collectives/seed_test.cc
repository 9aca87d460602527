// The seed's own test of its communicator, and the figures of its program: reduce-scatter and then all-gather equal
// all-reduce, in value and in bytes, by the ring.
//
// all was computed by the seed's own program. Where P does not divide the count it charges every rank
// 2 (P-1)/P of the vector, a fraction of an element; what really moves is a whole number for each rank, and
// only the mean over ranks equals that figure.

#include "collective_checks.h"

namespace shoal::test {
namespace {

struct Figure {
  int world;
  std::size_t count;
  double bytes_per_rank;      // all_reduce, and reduce_scatter and all_gather together.
  double bytes_of_each_half;  // Of all ranks: reduce_scatter, and the same for all_gather.
  std::vector<std::size_t> part_sizes;
  double mean_last;  // Last element of the mean, rank r having (r + 1) x at position x.
};

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all{
      {1, 8, 0.0, 0.0, {8}, 7.0},
      {2, 8, 32.0, 32.0, {4, 4}, 10.5},
      {4, 8, 48.0, 96.0, {2, 2, 2, 2}, 17.5},
      {4, 33088, 198528.0, 397056.0, {8272, 8272, 8272, 8272}, 82717.5},
      {8, 33088, 231616.0, 926464.0, {4136, 4136, 4136, 4136, 4136, 4136, 4136, 4136}, 148891.5},
      {3, 10, 160.0 / 3, 80.0, {4, 3, 3}, 18.0},
      {4, 10, 60.0, 120.0, {3, 3, 2, 2}, 22.5},
      {7, 3, 144.0 / 7, 72.0, {1, 1, 1, 0, 0, 0, 0}, 8.0},
  };
  return all;
}

/// The total over all ranks.
std::uint64_t total(Communicator& comm, std::uint64_t mine) {
  all_reduce(comm, std::span(&mine, 1), ReduceOp::sum);
  return mine;
}

TEST(SeedFigures, AreThoseOfOurRingExactlyWhereTheSplitIsEvenAndInTotalWhereNot) {
  for (const Figure& figure : figures()) {
    const auto ranks = run_ranks(figure.world, [&](Communicator& comm) {
      std::vector<float> data(figure.count);
      for (std::size_t x = 0; x < data.size(); ++x)
        data[x] = static_cast<float>(comm.rank() + 1) * static_cast<float>(x);
      auto halves = data;

      const Traffic before = comm.traffic();
      all_reduce(comm, data, ReduceOp::mean, {.algorithm = Algorithm::ring});
      const Traffic fused = comm.traffic() - before;

      const Traffic between = comm.traffic();
      const auto own = reduce_scatter(comm, halves, ReduceOp::mean, {.algorithm = Algorithm::ring});
      all_gather(comm, own, halves, {.algorithm = Algorithm::ring});
      const Traffic apart = comm.traffic() - between;

      EXPECT_TRUE(same_bits(data, halves));
      EXPECT_EQ(fused.sent, apart.sent);
      EXPECT_EQ(fused.received, apart.received);
      EXPECT_EQ(own.size(), figure.part_sizes[static_cast<std::size_t>(comm.rank())]);
      EXPECT_EQ(data.back(), static_cast<float>(figure.mean_last));

      if (figure.count % static_cast<std::size_t>(figure.world) == 0) {
        EXPECT_EQ(static_cast<double>(fused.sent), figure.bytes_per_rank);
        EXPECT_EQ(static_cast<double>(fused.received), figure.bytes_per_rank);
      }
      const auto by_op = apart.by_op;
      EXPECT_EQ(static_cast<double>(total(comm, by_op.at("reduce_scatter").sent)), figure.bytes_of_each_half);
      EXPECT_EQ(static_cast<double>(total(comm, by_op.at("all_gather").sent)), figure.bytes_of_each_half);
      EXPECT_EQ(static_cast<double>(total(comm, by_op.at("reduce_scatter").received)), figure.bytes_of_each_half);
      EXPECT_EQ(static_cast<double>(total(comm, by_op.at("all_gather").received)), figure.bytes_of_each_half);
    });
    EXPECT_TRUE(ranks.all_passed()) << "world " << figure.world << ", count " << figure.count << '\n' << ranks;
  }
}

class SeedTest : public EveryWorld {};
INSTANTIATE_TEST_SUITE_P(Worlds, SeedTest, every_world(), world_name);

TEST_P(SeedTest, ReduceScatterThenAllGatherEqualsAllReduce) {
  const auto ranks = run_ranks(
      GetParam(),
      [](Communicator& comm) {
        for (const Algorithm algorithm : {Algorithm::ring, Algorithm::pairwise}) {
          for (const std::size_t count : counts_around(comm.size())) {
            auto fused = values_of<float>(comm.rank(), count);
            auto halves = fused;
            const Traffic before = comm.traffic();
            all_reduce(comm, fused, ReduceOp::mean, {.algorithm = algorithm});
            const Traffic between = comm.traffic();
            const auto own = reduce_scatter(comm, halves, ReduceOp::mean, {.algorithm = algorithm});
            all_gather(comm, own, halves, {.algorithm = Algorithm::ring});
            const Traffic after = comm.traffic();

            EXPECT_TRUE(same_bits(fused, halves));
            EXPECT_EQ((between - before).sent, (after - between).sent);
            EXPECT_EQ((between - before).received, (after - between).received);
          }
          // The seed's numbers: eight elements of rank + 1.
          std::vector<float> data(8, static_cast<float>(comm.rank() + 1));
          all_reduce(comm, data, ReduceOp::mean, {.algorithm = algorithm});
          EXPECT_EQ(data, std::vector<float>(8, static_cast<float>(comm.size() + 1) / 2));
        }
      },
      small_channel());
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

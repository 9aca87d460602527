// Sums of floating-point numbers depend on their order. Here the order shows.

#include <cmath>
#include <limits>

#include "reduction_forms.h"

namespace shoal::test {
namespace {

std::uint64_t digest(std::span<const std::byte> bytes) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

TEST(CanonicalOrder, AddsFarRanksFirst) {
  // (1e8 + -1e8) + (1 + 1) = 2; from left to right it would be 1, as a ring's chunks: 0, 1 or 2.
  const std::array<float, 4> values{1e8F, 1.0F, -1e8F, 1.0F};
  const auto ranks = run_ranks(4, [&](Communicator& comm) {
    const float mine = values[static_cast<std::size_t>(comm.rank())];
    for (const std::size_t count : {1U, 2U, 3U, 4U, 5U, 17U, 4000U, 40'000U}) {
      std::vector<float> data(count, mine);
      all_reduce(comm, data, ReduceOp::sum);
      EXPECT_EQ(data, std::vector<float>(count, 2.0F));

      std::vector<float> halves(count, mine);
      const auto own = reduce_scatter(comm, halves, ReduceOp::sum);
      all_gather(comm, own, halves);
      EXPECT_EQ(halves, std::vector<float>(count, 2.0F));

      std::vector<float> at_root(comm.rank() == 3 ? count : 0);
      reduce(comm, std::vector<float>(count, mine), at_root, ReduceOp::sum, 3);
      if (comm.rank() == 3) {
        EXPECT_EQ(at_root, std::vector<float>(count, 2.0F));
      }

      std::vector<float> mean(count, mine);
      all_reduce(comm, mean, ReduceOp::mean);
      EXPECT_EQ(mean, std::vector<float>(count, 0.5F));
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(CanonicalOrder, IsTheSameAtEveryOffsetFusedOrApart) {
  // One all-reduce over 4,000 elements, and the same vector cut into pieces, each reduced by itself.
  const auto ranks = run_ranks(4, [](Communicator& comm) {
    const auto in = values_of<float>(comm.rank(), 4000);
    auto fused = in;
    all_reduce(comm, fused, ReduceOp::sum);
    EXPECT_TRUE(same_bits(reduced_values<float>(ReduceOp::sum, 4, 4000), fused));
    for (const std::size_t piece : {1U, 7U, 64U, 1000U, 1333U}) {
      auto apart = in;
      for (std::size_t begin = 0; begin < apart.size(); begin += piece)
        all_reduce(comm, std::span(apart).subspan(begin, std::min(piece, apart.size() - begin)), ReduceOp::sum);
      EXPECT_TRUE(same_bits(fused, apart)) << "in pieces of " << piece;
    }
    std::vector<float> shifted(4064);
    for (std::size_t offset = 0; offset < 64; ++offset) {
      const auto data = std::span(shifted).subspan(offset, 4000);
      std::ranges::copy(in, data.begin());
      all_reduce(comm, data, ReduceOp::sum);
      EXPECT_TRUE(same_bits(fused, std::vector<float>(data.begin(), data.end()))) << "offset " << offset;
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(RingOrder, DiffersFromChunkToChunkAndIsThereforeNeverTheDefault) {
  const std::array<float, 4> values{1e8F, 1.0F, -1e8F, 1.0F};
  const auto ranks = run_ranks(4, [&](Communicator& comm) {
    std::vector<float> data(4, values[static_cast<std::size_t>(comm.rank())]);
    const Traffic before = comm.traffic();
    all_reduce(comm, data, ReduceOp::sum, {.algorithm = Algorithm::ring});
    EXPECT_EQ((comm.traffic() - before).by_algorithm.begin()->first, "all_reduce:ring");
    // Chunk c begins with rank c + 1. In f32, 1e8 + 1 is 1e8:
    //   1e8 + (1 + (-1e8 + 1)) = 0    1 + (1e8 + (1 + -1e8)) = 1    -1e8 + (1 + (1e8 + 1)) = 0    1 + (-1e8 + (1 + 1e8)) = 1
    EXPECT_EQ(data, (std::vector<float>{0, 1, 0, 1}));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

class SameBits : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Worlds, SameBits, testing::Values(3, 4, 6, 7), world_name);

TEST_P(SameBits, OnAllRanksAtAThousandSizes) {
  const auto ranks = run_ranks(GetParam(), [](Communicator& comm) {
    for (std::size_t index = 0; index < 1000; ++index) {
      // Every size to 900, then on by steps over the block of the pairwise algorithm, 8,192 elements a rank.
      const std::size_t count = index <= 900 ? index : 8192 * static_cast<std::size_t>(comm.size()) - 50 + index - 900;
      auto data = values_of<float>(comm.rank(), count);
      all_reduce(comm, data, ReduceOp::sum, {.algorithm = index % 3 == 0 ? Algorithm::ring : Algorithm::automatic});
      const std::uint64_t mine = digest(std::as_bytes(std::span(data)));
      std::vector<std::uint64_t> all(static_cast<std::size_t>(comm.size()));
      all_gather(comm, std::span(&mine, 1), all);
      EXPECT_EQ(all, std::vector<std::uint64_t>(all.size(), mine)) << "count " << count;
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

class SpecialValues : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Worlds, SpecialValues, testing::Values(1, 2, 3, 5, 8), world_name);

TEST_P(SpecialValues, NanOnAnyRankIsNanOnAllAndMinusZeroIsBelowZero) {
  const auto ranks = run_ranks(GetParam(), [](Communicator& comm) {
    for (const Algorithm algorithm : {Algorithm::pairwise, Algorithm::ring}) {
      for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
        for (int culprit = 0; culprit < comm.size(); ++culprit) {
          const bool mine = comm.rank() == culprit;
          // NaN; -0 on one rank and +0 elsewhere; +0 on one rank and -0 elsewhere.
          std::vector<double> data{mine ? std::numeric_limits<double>::quiet_NaN() : comm.rank() - 3.0,
                                   mine ? -0.0 : 0.0, mine ? 0.0 : -0.0};
          all_reduce(comm, data, op, {.algorithm = algorithm});
          EXPECT_TRUE(std::isnan(data[0]));
          const bool least = op == ReduceOp::min;
          const bool alone = comm.size() == 1;
          EXPECT_EQ(data[1], 0.0);
          EXPECT_EQ(std::signbit(data[1]), alone || least);
          EXPECT_EQ(data[2], 0.0);
          EXPECT_EQ(std::signbit(data[2]), !alone && least);
        }
      }
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

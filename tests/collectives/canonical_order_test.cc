// Sums of floating-point numbers depend on their order. Here the order shows.

#include <bit>
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

/// By default, and by every algorithm that takes so many elements but the ring.
std::vector<Algorithm> canonical_ways_to(Operation operation, int ranks, std::size_t count) {
  std::vector<Algorithm> ways = ways_to(operation);
  std::erase_if(ways, [&](Algorithm algorithm) {
    return algorithm == Algorithm::ring || !takes(algorithm, operation, ranks, count, sizeof(float));
  });
  return ways;
}

TEST(CanonicalOrder, AddsFarRanksFirst) {
  // (1e8 + -1e8) + (1 + 1) = 2; from left to right it would be 1, as a ring's chunks: 0, 1 or 2.
  const std::array<float, 4> values{1e8F, 1.0F, -1e8F, 1.0F};
  const auto ranks = run_ranks(4, [&](Communicator& comm) {
    const float mine = values[static_cast<std::size_t>(comm.rank())];
    for (const std::size_t count : {1U, 2U, 3U, 4U, 5U, 17U, 1024U, 1025U, 40'000U}) {
      for (const Algorithm algorithm : canonical_ways_to(Operation::all_reduce, comm.size(), count)) {
        std::vector<float> data(count, mine);
        all_reduce(comm, data, ReduceOp::sum, {.algorithm = algorithm});
        EXPECT_EQ(data, std::vector<float>(count, 2.0F)) << name(algorithm);

        std::vector<float> mean(count, mine);
        all_reduce(comm, mean, ReduceOp::mean, {.algorithm = algorithm});
        EXPECT_EQ(mean, std::vector<float>(count, 0.5F)) << name(algorithm);
      }
      for (const Algorithm algorithm : canonical_ways_to(Operation::reduce_scatter, comm.size(), count)) {
        std::vector<float> halves(count, mine);
        const auto own = reduce_scatter(comm, halves, ReduceOp::sum, {.algorithm = algorithm});
        all_gather(comm, own, halves);
        EXPECT_EQ(halves, std::vector<float>(count, 2.0F)) << name(algorithm);
      }
      for (const Algorithm algorithm : canonical_ways_to(Operation::reduce, comm.size(), count)) {
        for (int root = 0; root < 4; ++root) {
          std::vector<float> at_root(comm.rank() == root ? count : 0);
          reduce(comm, std::vector<float>(count, mine), at_root, ReduceOp::sum, root, {.algorithm = algorithm});
          EXPECT_EQ(at_root, std::vector<float>(at_root.size(), 2.0F)) << name(algorithm);
        }
      }
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

TEST(CanonicalOrder, OfTheFieldsValuesGivesTwoAtEveryOffsetInPiecesAndByEveryAlgorithm) {
  // Ranks hold 1e8, 1, -1e8, 1, 4,000 times: (1e8 + -1e8) + (1 + 1) = 2. The ring would give 0 or 1, by the chunk.
  const std::array<float, 4> values{1e8F, 1.0F, -1e8F, 1.0F};
  const auto ranks = run_ranks(4, [&](Communicator& comm) {
    const float mine = values[static_cast<std::size_t>(comm.rank())];
    std::vector<float> memory(4064);
    for (const std::size_t piece : {1U, 7U, 28U, 29U, 1333U, 4000U}) {
      for (const Algorithm algorithm : canonical_ways_to(Operation::all_reduce, comm.size(), piece)) {
        const std::size_t offset = (piece + static_cast<std::size_t>(algorithm)) % 64;
        std::ranges::fill(memory, mine);
        for (std::size_t begin = 0; begin < 4000; begin += piece)
          all_reduce(comm, std::span(memory).subspan(offset + begin, std::min(piece, 4000 - begin)), ReduceOp::sum,
                     {.algorithm = algorithm});
        std::vector<float> expected(memory.size(), mine);
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(offset), 4000, 2.0F);
        EXPECT_EQ(memory, expected) << "in pieces of " << piece << " by " << name(algorithm);
      }
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
    //   1e8 + (1 + (-1e8 + 1)) = 0     1 + (1e8 + (1 + -1e8)) = 1
    //   -1e8 + (1 + (1e8 + 1)) = 0     1 + (-1e8 + (1 + 1e8)) = 1
    EXPECT_EQ(data, (std::vector<float>{0, 1, 0, 1}));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

/// A NaN that tells whose it is.
float nan_of(int rank) { return std::bit_cast<float>(0x7fc00001U + static_cast<std::uint32_t>(rank)); }

class Operands : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Worlds, Operands, testing::Range(2, 10), world_name);

TEST_P(Operands, OfTheLowerRankStandLeftInEveryAlgorithmAndAtEveryRoot) {
  // Of two NaNs max takes the left one, so the one that is left tells where each stood. At position i the ranks of the
  // bits of i have one.
  const int world = GetParam();
  const std::size_t count = std::size_t{1} << world;
  const auto value = [](int rank, std::size_t i) {
    return (i >> rank & 1) != 0 ? nan_of(rank) : static_cast<float>(rank);
  };
  std::vector<float> expected(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<float> at;
    for (int rank = 0; rank < world; ++rank) at.push_back(value(rank, i));
    std::size_t distance = std::bit_floor(at.size() - 1);
    for (; distance >= 1; distance /= 2)
      for (std::size_t rank = 0; rank + distance < at.size() && rank < distance; ++rank)
        if (!std::isnan(at[rank]) && !(at[rank + distance] <= at[rank])) at[rank] = at[rank + distance];
    expected[i] = at[0];
  }

  const auto ranks = run_ranks(world, [&](Communicator& comm) {
    std::vector<float> in(count);
    for (std::size_t i = 0; i < count; ++i) in[i] = value(comm.rank(), i);
    for (const Algorithm algorithm : canonical_ways_to(Operation::all_reduce, comm.size(), count)) {
      auto data = in;
      all_reduce(comm, data, ReduceOp::max, {.algorithm = algorithm});
      EXPECT_TRUE(same_bits(expected, data)) << "all_reduce by " << name(algorithm);
    }
    for (const Algorithm algorithm : canonical_ways_to(Operation::reduce_scatter, comm.size(), count)) {
      std::vector<float> own(chunk_of(in, comm.rank(), comm.size()).size());
      reduce_scatter(comm, in, own, ReduceOp::max, {.algorithm = algorithm});
      EXPECT_TRUE(same_bits(chunk_of(expected, comm.rank(), comm.size()), own)) << "by " << name(algorithm);
    }
    for (const Algorithm algorithm : canonical_ways_to(Operation::reduce, comm.size(), count)) {
      for (int root = 0; root < comm.size(); ++root) {
        std::vector<float> out(comm.rank() == root ? count : 0);
        reduce(comm, in, out, ReduceOp::max, root, {.algorithm = algorithm});
        if (comm.rank() == root) {
          EXPECT_TRUE(same_bits(expected, out)) << "root " << root << " by " << name(algorithm);
        }
      }
    }
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

class SameBits : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Worlds, SameBits, testing::Values(3, 4, 6, 7), world_name);

TEST_P(SameBits, OnAllRanksAtMoreThanAThousandSizes) {
  const auto ranks = run_ranks(GetParam(), [](Communicator& comm) {
    for (std::size_t index = 0; index < 1100; ++index) {
      // Every size to 900, then on by steps over the block of the pairwise algorithm, 8,192 elements a rank, and over
      // 4 KiB, where the default changes. (That of 112 bytes is among the first.)
      const std::size_t count = index <= 900   ? index
                                : index < 1000 ? 8192 * static_cast<std::size_t>(comm.size()) - 50 + index - 900
                                               : 974 + index - 1000;
      auto ways = ways_to(Operation::all_reduce);
      std::erase_if(ways, [&](Algorithm way) { return !takes(way, Operation::all_reduce, comm.size(), count, 4); });
      auto data = values_of<float>(comm.rank(), count);
      all_reduce(comm, data, ReduceOp::sum, {.algorithm = ways[index % ways.size()]});
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
    for (const Algorithm algorithm : ways_to(Operation::all_reduce)) {
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

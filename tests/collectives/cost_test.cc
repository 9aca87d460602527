#include "shoal/collectives/cost.h"

#include <gtest/gtest.h>

#include "collective_checks.h"
#include "selection.h"

namespace shoal::test {
namespace {

constexpr std::array kCollectives{Operation::barrier,    Operation::broadcast,      Operation::reduce,
                                  Operation::all_reduce, Operation::reduce_scatter, Operation::all_gather,
                                  Operation::gather,     Operation::scatter,        Operation::scatter_cyclic,
                                  Operation::all_to_all};

TEST(Cost, OfAllRanksTogetherSendsWhatIsReceived) {
  for (const Operation operation : kCollectives) {
    for (const Algorithm algorithm : detail::algorithms_of(operation)) {
      for (int ranks = 1; ranks <= 33; ++ranks) {
        for (const std::uint64_t count : {0U, 1U, 5U, 32U, 33U, 1000U, 100'003U}) {
          if (!takes(algorithm, operation, ranks, count, sizeof(float))) continue;
          const int root = ranks / 2;
          Cost sum;
          for (int rank = 0; rank < ranks; ++rank)
            sum += cost({.operation = operation,
                         .algorithm = algorithm,
                         .count = count,
                         .ranks = ranks,
                         .rank = rank,
                         .root = root});
          EXPECT_EQ(sum.sent, sum.received)
              << name(operation) << " by " << name(algorithm) << ", " << ranks << " ranks, count " << count;
        }
      }
    }
  }
}

TEST(Cost, IsTheTextbooksWhereTheRanksDivideTheCount) {
  // S = 4 * 1200 bytes, P = 6: (P-1)/P of S is 4000.
  const auto of = [](Operation operation, Algorithm algorithm, int rank) {
    return cost({.operation = operation, .algorithm = algorithm, .count = 1200, .ranks = 6, .rank = rank, .root = 2});
  };
  for (int rank = 0; rank < 6; ++rank) {
    const Cost half{.sent = 4000, .received = 4000, .steps = 5, .messages = 5};
    const Cost whole{.sent = 8000, .received = 8000, .steps = 10, .messages = 10};
    EXPECT_EQ(of(Operation::all_reduce, Algorithm::ring, rank), whole);
    EXPECT_EQ(of(Operation::all_reduce, Algorithm::pairwise, rank), whole);
    EXPECT_EQ(of(Operation::reduce_scatter, Algorithm::ring, rank), half);
    EXPECT_EQ(of(Operation::all_gather, Algorithm::ring, rank), half);
    EXPECT_EQ(of(Operation::all_to_all, Algorithm::pairwise, rank), half);
    EXPECT_EQ(of(Operation::gather, Algorithm::linear, rank),
              rank == 2 ? (Cost{.received = 4000, .steps = 5}) : (Cost{.sent = 800, .steps = 1, .messages = 1}));
    EXPECT_EQ(of(Operation::scatter, Algorithm::linear, rank),
              rank == 2 ? (Cost{.sent = 4000, .steps = 5, .messages = 5}) : (Cost{.received = 800, .steps = 1}));
    EXPECT_EQ(of(Operation::barrier, Algorithm::dissemination, rank), (Cost{.steps = 3, .messages = 3}));
  }
}

TEST(Cost, OfHalvingAndDoublingIsTheTextbooksAtAPowerOfTwo) {
  // S = 4 * 1600 bytes, P = 8: S/2 + S/4 + S/8 = 5600 each way.
  const auto of = [](Operation operation, Algorithm algorithm, int rank) {
    return cost({.operation = operation, .algorithm = algorithm, .count = 1600, .ranks = 8, .rank = rank, .root = 5});
  };
  const std::array<std::uint64_t, 8> gathered{1, 4, 1, 2, 1, 8, 1, 2};  // Chunks in the subtree; rank 5 is place 0.
  for (int rank = 0; rank < 8; ++rank) {
    const Cost half{.sent = 5600, .received = 5600, .steps = 3, .messages = 3};
    EXPECT_EQ(of(Operation::reduce_scatter, Algorithm::recursive_halving, rank), half);
    EXPECT_EQ(of(Operation::all_gather, Algorithm::recursive_doubling, rank), half);
    EXPECT_EQ(of(Operation::all_gather, Algorithm::bruck, rank), half);
    EXPECT_EQ(of(Operation::all_reduce, Algorithm::recursive_halving, rank),
              (Cost{.sent = 11200, .received = 11200, .steps = 6, .messages = 6}));
    EXPECT_EQ(of(Operation::all_reduce, Algorithm::recursive_doubling, rank),
              (Cost{.sent = 3 * 6400, .received = 3 * 6400, .steps = 3, .messages = 3}));
    const std::uint64_t joined = 800 * gathered[static_cast<std::size_t>(rank)];
    const Cost gather = of(Operation::gather, Algorithm::binomial, rank);
    EXPECT_EQ(gather.sent, rank == 5 ? 0 : joined);
    EXPECT_EQ(gather.received, joined - 800);
    const Cost scatter = of(Operation::scatter, Algorithm::binomial, rank);
    EXPECT_EQ(scatter.sent, gather.received);
    EXPECT_EQ(scatter.received, gather.sent);
  }
}

TEST(Cost, OfUnevenChunksIsExactForEachRank) {
  // The figures of nccl-tests' complaint: 10 elements over 4 are no (P-1)/P for anyone.
  const std::array<std::uint64_t, 4> sent{28, 28, 32, 32};
  const std::array<std::uint64_t, 4> received{36, 36, 24, 24};
  for (int rank = 0; rank < 4; ++rank) {
    const Cost moved = cost({.operation = Operation::reduce_scatter,
                             .algorithm = Algorithm::pairwise,
                             .count = 10,
                             .ranks = 4,
                             .rank = rank});
    EXPECT_EQ(moved.sent, sent[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(moved.received, received[static_cast<std::size_t>(rank)]);
  }
}

TEST(Cost, OfABroadcastIsThatOfABinomialTree) {
  // 7 ranks from root 3. Rank 3 sends to 4, 5, 0; 4 to 6, 1; 5 to 2.
  const std::array<std::uint64_t, 7> sends{0, 0, 0, 3, 2, 1, 0};
  for (int rank = 0; rank < 7; ++rank) {
    const Cost moved = cost(
        {.operation = Operation::broadcast, .count = 5, .type = DataType::f64, .ranks = 7, .rank = rank, .root = 3});
    const std::uint64_t sent = sends[static_cast<std::size_t>(rank)];
    EXPECT_EQ(moved, (Cost{.sent = 40 * sent,
                           .received = rank == 3 ? 0U : 40U,
                           .steps = sent + (rank == 3 ? 0 : 1),
                           .messages = sent}));
  }
}

TEST(Cost, CountsTheRoundsOfThePairwiseAlgorithm) {
  // Blocks of 32 KiB: 8,192 f32. 3 ranks, 2 steps a round.
  const auto steps = [](std::uint64_t count) {
    return cost({.operation = Operation::reduce_scatter, .algorithm = Algorithm::pairwise, .count = count, .ranks = 3})
        .steps;
  };
  EXPECT_EQ(steps(0), 2U);
  EXPECT_EQ(steps(3 * 8192), 2U);
  EXPECT_EQ(steps(3 * 8192 + 1), 4U);
  EXPECT_EQ(steps(3 * 8192 * 10), 20U);
}

TEST(Cost, CountsTheBlocksOfThePipelinedBroadcast) {
  // Three blocks along the chain 1, 2, 3, 0: those between take one step more than the first and the last.
  const auto of = [](int rank) {
    return cost({.operation = Operation::broadcast,
                 .algorithm = Algorithm::pipelined,
                 .count = 2 * 8192 + 1,
                 .ranks = 4,
                 .rank = rank,
                 .root = 1});
  };
  constexpr std::uint64_t kBytes = 65540;
  EXPECT_EQ(of(1), (Cost{.sent = kBytes, .steps = 3, .messages = 3}));
  EXPECT_EQ(of(2), (Cost{.sent = kBytes, .received = kBytes, .steps = 4, .messages = 3}));
  EXPECT_EQ(of(3), (Cost{.sent = kBytes, .received = kBytes, .steps = 4, .messages = 3}));
  EXPECT_EQ(of(0), (Cost{.received = kBytes, .steps = 3}));
}

TEST(Cost, HoldsInSixtyFourBits) {
  const Cost moved =
      cost({.operation = Operation::all_reduce, .count = std::uint64_t{1} << 40, .type = DataType::f64, .ranks = 4096});
  EXPECT_EQ(moved.sent, 2 * (std::uint64_t{1} << 43) / 4096 * 4095);
}

TEST(Cost, OfOneRankIsNothing) {
  for (const Operation operation : kCollectives)
    for (const Algorithm algorithm : detail::algorithms_of(operation))
      EXPECT_EQ(cost({.operation = operation, .algorithm = algorithm, .count = 28}), Cost{});
}

TEST(Cost, OfACallThatNamesNoAlgorithmIsThatOfTheOneItWouldUse) {
  // A sum of 8 i32 rides in a line, which three others read; one of 40 stands in slots, which they read too. Of 40,000
  // each of four ranks combines 10,000, 40,000 bytes, less than a block of 256 KiB / 5: it reads them from
  // three others, which read as many from it, and hands its result to three.
  CostQuery query{.operation = Operation::all_reduce, .count = 8, .type = DataType::i32, .ranks = 4};
  EXPECT_EQ(cost(query), (Cost{.sent = 96, .received = 96, .steps = 1, .messages = 3}));
  query.count = 40;
  EXPECT_EQ(cost(query), (Cost{.sent = 480, .received = 480, .steps = 1, .messages = 3}));
  query.count = 40'000;
  EXPECT_EQ(cost(query), (Cost{.sent = 240'000, .received = 240'000, .steps = 2, .messages = 6}));
  // Among 65 ranks 65 go by recursive doubling, 260 bytes to each of six peers and to or from the one beyond 64; their
  // mean only by pairwise and ring, of which each has one to combine.
  query.count = 65;
  query.ranks = 65;
  EXPECT_EQ(cost(query), (Cost{.sent = 7 * 260, .received = 7 * 260, .steps = 8, .messages = 7}));
  query.reduce_op = ReduceOp::mean;
  EXPECT_EQ(cost(query), (Cost{.sent = 512, .received = 512, .steps = 128, .messages = 128}));
}

std::string refusal(const CostQuery& query) {
  try {
    (void)cost(query);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "not refused";
}

TEST(Cost, RefusesWhatIsNoCallNamingIt) {
  EXPECT_EQ(refusal({.operation = Operation::broadcast, .ranks = 4, .rank = 4}), "cost: rank 4 is not one of 4 ranks");
  EXPECT_EQ(refusal({.operation = Operation::broadcast, .ranks = 4, .root = -1}),
            "cost: root -1 is not one of 4 ranks");
  EXPECT_EQ(refusal({.operation = Operation::broadcast, .ranks = 0}), "cost: rank 0 is not one of 0 ranks");
  EXPECT_EQ(refusal({.operation = Operation::broadcast, .algorithm = Algorithm::ring}),
            "cost: broadcast: algorithm ring is not one of: binomial, pipelined, direct");
  EXPECT_EQ(refusal({.operation = Operation::all_reduce,
                     .algorithm = Algorithm::binomial,
                     .type = DataType::i8,
                     .reduce_op = ReduceOp::mean}),
            "cost: all_reduce: algorithm binomial cannot form the mean of i8, which needs a wider sum than travels; "
            "pairwise can");
  EXPECT_EQ(refusal({.operation = Operation::gather_v}),
            "cost: gather_v has no closed form: its bytes depend on its lengths");
}

}  // namespace
}  // namespace shoal::test

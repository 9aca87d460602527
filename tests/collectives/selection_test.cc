#include "selection.h"

#include <gtest/gtest.h>

#include "collective_checks.h"

namespace shoal::test {
namespace {

using detail::parse_algorithm_choices;
using detail::select;

const detail::AlgorithmChoices kNoChoices{};

std::string mistake_of(std::string_view text) { return parse_algorithm_choices(text).mistake; }

Algorithm chosen(Operation operation, std::uint64_t bytes, int ranks, std::optional<detail::Reduction> reduction = {}) {
  return select(operation, Algorithm::automatic, reduction, kNoChoices,
                {.bytes = bytes, .ranks = ranks, .element_bytes = 1})
      .algorithm;
}

TEST(Selection, HasRanksReadWhatOthersShowWhereTheyAreNotMany) {
  for (const int ranks : {1, 2, 3, 4, 7, 8, 64}) {
    for (const std::uint64_t bytes : {16384U, 16385U}) {
      const bool more = bytes > 16384;
      EXPECT_EQ(chosen(Operation::all_reduce, bytes, ranks), more ? Algorithm::direct : Algorithm::slots);
      EXPECT_EQ(chosen(Operation::reduce, bytes, ranks), more ? Algorithm::direct : Algorithm::pairwise);
      EXPECT_EQ(chosen(Operation::broadcast, bytes, ranks), more ? Algorithm::direct : Algorithm::binomial);
    }
    EXPECT_EQ(chosen(Operation::reduce, 4096, ranks), Algorithm::binomial);
    for (const std::uint64_t bytes : {std::uint64_t{10'000}, std::uint64_t{1} << 40})
      for (const Operation operation : {Operation::reduce_scatter, Operation::all_gather, Operation::all_to_all})
        EXPECT_EQ(chosen(operation, bytes, ranks), Algorithm::direct);
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1} << 40})
      for (const Operation operation : {Operation::gather, Operation::scatter, Operation::scatter_cyclic})
        EXPECT_EQ(chosen(operation, bytes, ranks), Algorithm::linear);
  }
}

TEST(Selection, TakesFewStepsForFewBytesAndFewBytesForManyWhereRanksAreMany) {
  for (const int ranks : {65, 100, 128}) {
    const bool power_of_two = ranks == 128;
    for (const std::uint64_t few : {1000U, 4096U}) {
      EXPECT_EQ(chosen(Operation::all_reduce, few, ranks), Algorithm::recursive_doubling);
      EXPECT_EQ(chosen(Operation::reduce, few, ranks), Algorithm::binomial);
      EXPECT_EQ(chosen(Operation::reduce_scatter, few, ranks),
                power_of_two ? Algorithm::recursive_halving : Algorithm::pairwise);
      EXPECT_EQ(chosen(Operation::all_gather, few, ranks),
                power_of_two ? Algorithm::recursive_doubling : Algorithm::bruck);
    }
    for (const std::uint64_t many : {std::uint64_t{4097}, std::uint64_t{1} << 40}) {
      EXPECT_EQ(chosen(Operation::all_reduce, many, ranks), Algorithm::pairwise);
      EXPECT_EQ(chosen(Operation::reduce, many, ranks), Algorithm::pairwise);
      EXPECT_EQ(chosen(Operation::reduce_scatter, many, ranks), Algorithm::pairwise);
      EXPECT_EQ(chosen(Operation::all_gather, many, ranks), Algorithm::ring);
    }
    EXPECT_EQ(chosen(Operation::broadcast, (512 << 10) - 1, ranks), Algorithm::binomial);
    EXPECT_EQ(chosen(Operation::broadcast, 512 << 10, ranks), Algorithm::pipelined);
    EXPECT_EQ(chosen(Operation::all_to_all, std::uint64_t{1} << 40, ranks), Algorithm::pairwise);
  }
}

TEST(Selection, LetsWhatRidesInALineRideInALine) {
  for (const int ranks : {1, 2, 5, 64, 65}) {
    const auto expect = [&](Operation operation, std::uint64_t bytes, bool tiny) {
      EXPECT_EQ(chosen(operation, bytes, ranks) == Algorithm::tiny, tiny && ranks <= 64)
          << name(operation) << ", " << bytes << " bytes, " << ranks << " ranks";
    };
    expect(Operation::barrier, 0, true);
    for (const Operation operation : {Operation::all_reduce, Operation::reduce_scatter, Operation::all_to_all}) {
      expect(operation, 0, true);
      expect(operation, 112, true);
      expect(operation, 113, false);
    }
    const auto p = static_cast<std::uint64_t>(ranks);
    expect(Operation::all_gather, 112 * p, true);  // Chunks of 112 bytes.
    expect(Operation::all_gather, 112 * p + 1, false);
    expect(Operation::reduce, 8, false);  // What has a root does not await everybody.
    expect(Operation::broadcast, 8, false);
  }
}

TEST(Selection, RefusesMoreThanALineByName) {
  const auto mistake = [](Operation operation, std::uint64_t bytes) {
    return select(operation, Algorithm::tiny, std::nullopt, kNoChoices,
                  {.bytes = bytes, .ranks = 3, .element_bytes = 8})
        .mistake;
  };
  EXPECT_EQ(mistake(Operation::all_reduce, 112), "");
  EXPECT_EQ(mistake(Operation::all_reduce, 120), "algorithm tiny takes at most 112 bytes of a rank, not 120");
  EXPECT_EQ(mistake(Operation::all_gather, 336), "");  // 14 elements each.
  EXPECT_EQ(mistake(Operation::all_gather, 344), "algorithm tiny takes at most 112 bytes of a rank, not 120");
}

TEST(Selection, SumsInOnePlaceWhatTheTypeCannotHold) {
  for (const Operation operation : {Operation::all_reduce, Operation::reduce, Operation::reduce_scatter}) {
    for (const auto& [op, type] : {std::pair{ReduceOp::mean, DataType::i32}, std::pair{ReduceOp::mean, DataType::u64},
                                   std::pair{ReduceOp::sum, DataType::bf16}, std::pair{ReduceOp::prod, DataType::f16}})
      EXPECT_EQ(chosen(operation, 1000, 128, detail::Reduction{.op = op, .type = type}), Algorithm::pairwise);
    for (const auto& [op, type] : {std::pair{ReduceOp::sum, DataType::i32}, std::pair{ReduceOp::mean, DataType::f32},
                                   std::pair{ReduceOp::max, DataType::bf16}})
      EXPECT_NE(chosen(operation, 1000, 128, detail::Reduction{.op = op, .type = type}), Algorithm::pairwise);
  }
}

TEST(Selection, TheCallersWordStandsAboveTheEnvironments) {
  const auto choices = parse_algorithm_choices("all_reduce:ring,broadcast:binomial");
  EXPECT_EQ(choices.mistake, "");
  EXPECT_EQ(select(Operation::all_reduce, Algorithm::automatic, std::nullopt, choices).algorithm, Algorithm::ring);
  EXPECT_EQ(select(Operation::all_reduce, Algorithm::pairwise, std::nullopt, choices).algorithm, Algorithm::pairwise);
  EXPECT_EQ(select(Operation::reduce, Algorithm::automatic, std::nullopt, choices).algorithm, Algorithm::binomial);
}

TEST(Selection, RefusesAnAlgorithmThatCannotDoTheOperationAndSaysWhoAskedForIt) {
  EXPECT_EQ(select(Operation::broadcast, Algorithm::ring, std::nullopt, kNoChoices).mistake,
            "algorithm ring is not one of: binomial, pipelined, direct");
  EXPECT_EQ(
      select(Operation::all_reduce, Algorithm::bruck, std::nullopt, kNoChoices).mistake,
      "algorithm bruck is not one of: pairwise, recursive_doubling, recursive_halving, binomial, tiny, slots, direct, "
      "ring");
  EXPECT_EQ(select(Operation::broadcast, Algorithm::automatic, std::nullopt, parse_algorithm_choices("broadcast:ring"))
                .mistake,
            "algorithm ring (of SHOAL_ALGORITHM) is not one of: binomial, pipelined, direct");
}

TEST(Selection, RefusesIntegerMeansThatWouldTravelNarrow) {
  const auto mistake = [](Algorithm algorithm, ReduceOp op, DataType type) {
    return select(Operation::all_reduce, algorithm, detail::Reduction{.op = op, .type = type}, kNoChoices).mistake;
  };
  EXPECT_EQ(mistake(Algorithm::ring, ReduceOp::mean, DataType::i32),
            "algorithm ring cannot form the mean of i32, which needs a wider sum than travels; pairwise can");
  EXPECT_EQ(mistake(Algorithm::ring, ReduceOp::sum, DataType::i32), "");
  EXPECT_EQ(mistake(Algorithm::ring, ReduceOp::mean, DataType::f32), "");
  EXPECT_EQ(mistake(Algorithm::automatic, ReduceOp::mean, DataType::i32), "");
}

TEST(AlgorithmChoices, NameTheirMistake) {
  EXPECT_EQ(mistake_of(""), "");
  EXPECT_EQ(mistake_of("all_reduce:ring"), "");
  EXPECT_EQ(mistake_of("all_reduce:auto"), "");
  EXPECT_EQ(mistake_of("all_reduce:ring,all_reduce:ring"), "");
  EXPECT_EQ(mistake_of("all_reduce"), "SHOAL_ALGORITHM: \"all_reduce\" is not operation:algorithm");
  EXPECT_EQ(mistake_of("allreduce:ring"), "SHOAL_ALGORITHM: \"allreduce\" is not an operation");
  EXPECT_EQ(mistake_of("all_reduce:rign"), "SHOAL_ALGORITHM: \"rign\" is not an algorithm");
  EXPECT_EQ(mistake_of("broadcast:binomial,all_reduce:"), "SHOAL_ALGORITHM: \"\" is not an algorithm");
  EXPECT_EQ(mistake_of("broadcast:binomial,,all_reduce:ring"), "SHOAL_ALGORITHM: \"\" is not operation:algorithm");
  EXPECT_EQ(mistake_of("all_reduce:ring,"), "SHOAL_ALGORITHM: \"\" is not operation:algorithm");
  EXPECT_EQ(mistake_of("all_reduce:ring,all_reduce:pairwise"), "SHOAL_ALGORITHM: two algorithms for all_reduce");
  EXPECT_EQ(mistake_of(" all_reduce:ring"), "SHOAL_ALGORITHM: \" all_reduce\" is not an operation");
  EXPECT_EQ(mistake_of("send:ring"), "SHOAL_ALGORITHM: send has no algorithms to choose from");
}

}  // namespace
}  // namespace shoal::test

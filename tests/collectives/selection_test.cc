#include "selection.h"

#include <gtest/gtest.h>

#include "collective_checks.h"

namespace shoal::test {
namespace {

using detail::parse_algorithm_choices;
using detail::select;

const detail::AlgorithmChoices kNoChoices{};

std::string mistake_of(std::string_view text) { return parse_algorithm_choices(text).mistake; }

TEST(Selection, TakesTheDefaultWhereNothingIsAsked) {
  const auto chosen = [](Operation operation) {
    return select(operation, Algorithm::automatic, std::nullopt, kNoChoices).algorithm;
  };
  EXPECT_EQ(chosen(Operation::barrier), Algorithm::dissemination);
  EXPECT_EQ(chosen(Operation::broadcast), Algorithm::binomial);
  EXPECT_EQ(chosen(Operation::all_reduce), Algorithm::pairwise);
  EXPECT_EQ(chosen(Operation::reduce_scatter), Algorithm::pairwise);
  EXPECT_EQ(chosen(Operation::reduce), Algorithm::pairwise);
  EXPECT_EQ(chosen(Operation::all_gather), Algorithm::ring);
  EXPECT_EQ(chosen(Operation::gather), Algorithm::linear);
  EXPECT_EQ(chosen(Operation::scatter), Algorithm::linear);
  EXPECT_EQ(chosen(Operation::scatter_cyclic), Algorithm::linear);
  EXPECT_EQ(chosen(Operation::all_to_all), Algorithm::pairwise);
}

TEST(Selection, TheCallersWordStandsAboveTheEnvironments) {
  const auto choices = parse_algorithm_choices("all_reduce:ring,broadcast:binomial");
  EXPECT_EQ(choices.mistake, "");
  EXPECT_EQ(select(Operation::all_reduce, Algorithm::automatic, std::nullopt, choices).algorithm, Algorithm::ring);
  EXPECT_EQ(select(Operation::all_reduce, Algorithm::pairwise, std::nullopt, choices).algorithm, Algorithm::pairwise);
  EXPECT_EQ(select(Operation::reduce, Algorithm::automatic, std::nullopt, choices).algorithm, Algorithm::pairwise);
}

TEST(Selection, RefusesAnAlgorithmThatCannotDoTheOperationAndSaysWhoAskedForIt) {
  EXPECT_EQ(select(Operation::broadcast, Algorithm::ring, std::nullopt, kNoChoices).mistake,
            "algorithm ring is not one of: binomial");
  EXPECT_EQ(select(Operation::all_reduce, Algorithm::tiny, std::nullopt, kNoChoices).mistake,
            "algorithm tiny is not one of: pairwise, ring");
  EXPECT_EQ(select(Operation::broadcast, Algorithm::automatic, std::nullopt, parse_algorithm_choices("broadcast:ring"))
                .mistake,
            "algorithm ring (of SHOAL_ALGORITHM) is not one of: binomial");
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

// What is measured at which number of ranks.
#include "bench/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/program.h"

namespace shoal::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::uint64_t> counts(const Plan& plan) {
  std::vector<std::uint64_t> all;
  for (const PlannedRow& row : plan.rows) all.push_back(row.call.count);
  return all;
}

TEST(Plan, WholeVectorsHaveAsManyElementsAsFit) {
  const Plan plan = plan_rows({.operations = {Operation::all_reduce}, .sizes = {12, 100, 103}}, 3);
  EXPECT_THAT(counts(plan), ElementsAre(3, 25, 25));
  EXPECT_EQ(plan.rows[2].bytes, 103U);  // As asked.
  EXPECT_THAT(plan.left_out, IsEmpty());
}

TEST(Plan, CutVectorsHaveAsManyForEachRank) {
  for (const Operation operation : {Operation::reduce_scatter, Operation::all_gather, Operation::all_to_all,
                                    Operation::gather, Operation::scatter}) {
    const Plan plan = plan_rows({.operations = {operation}, .sizes = {12, 100, 103}, .type = DataType::i16}, 3);
    EXPECT_THAT(counts(plan), ElementsAre(6, 48, 51)) << name(operation);
    EXPECT_EQ(plan.rows[1].bytes, 100U);
  }
}

TEST(Plan, SizesWithLessThanAnElementForEachRankAreLeftOutAndSaidSo) {
  const Plan plan = plan_rows({.operations = {Operation::barrier, Operation::broadcast}, .sizes = {8, 11, 12}}, 3);
  EXPECT_THAT(counts(plan), ElementsAre(0, 3));
  EXPECT_THAT(plan.left_out, ElementsAre("size 8 is left out: less than one element of f32 for each of 3 ranks",
                                         "size 11 is left out: less than one element of f32 for each of 3 ranks"));
}

TEST(Plan, BarrierIsMeasuredOnceWithNoBytes) {
  const Plan plan = plan_rows({.operations = {Operation::barrier}, .sizes = {8, 64, 512}}, 2);
  ASSERT_EQ(plan.rows.size(), 1U);
  EXPECT_EQ(plan.rows[0].bytes, 0U);
  EXPECT_EQ(plan.in_bytes + plan.out_bytes, 0U);
}

TEST(Plan, BuffersHoldTheLargestOfAnyRank) {
  const BenchOptions options{.operations = {Operation::gather, Operation::scatter}, .sizes = {8, 16}};
  const Plan plan = plan_rows(options, 2);
  EXPECT_EQ(plan.in_bytes, 16U);   // Of the scatter's root.
  EXPECT_EQ(plan.out_bytes, 16U);  // Of the gather's.
  const Plan in_place = plan_rows({.operations = {Operation::all_reduce}, .sizes = {4096}, .in_place = true}, 2);
  EXPECT_EQ(in_place.in_bytes, 4096U);
  EXPECT_EQ(in_place.out_bytes, 0U);
}

TEST(Plan, AlgorithmThatCannotDoARowIsRefused) {
  EXPECT_THROW(plan_rows({.operations = {Operation::broadcast}, .sizes = {8}, .algorithm = Algorithm::ring}, 2),
               UsageError);
  EXPECT_THROW(plan_rows({.operations = {Operation::all_reduce}, .sizes = {64, 4096}, .algorithm = Algorithm::tiny}, 2),
               UsageError);
}

}  // namespace
}  // namespace shoal::bench

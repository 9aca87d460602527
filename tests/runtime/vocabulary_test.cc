#include <gtest/gtest.h>

#include "shoal/runtime/error.h"
#include "shoal/runtime/operation.h"

namespace shoal {
namespace {

TEST(Vocabulary, EveryNameReadsBackAsItsValue) {
  for (std::size_t i = 0; i < kOperationCount; ++i) {
    const auto value = static_cast<Operation>(i);
    EXPECT_EQ(operation_named(name(value)), value);
  }
  for (std::size_t i = 0; i < kAlgorithmCount; ++i) {
    const auto value = static_cast<Algorithm>(i);
    EXPECT_EQ(algorithm_named(name(value)), value);
  }
  for (std::size_t i = 0; i < kReduceOpCount; ++i) {
    const auto value = static_cast<ReduceOp>(i);
    EXPECT_EQ(reduce_op_named(name(value)), value);
  }
  for (std::size_t i = 0; i < kDataTypeCount; ++i) {
    const auto value = static_cast<DataType>(i);
    EXPECT_EQ(data_type_named(name(value)), value);
  }
}

TEST(Vocabulary, LastOfEachIsWhereItsCountSays) {
  EXPECT_EQ(name(static_cast<Operation>(kOperationCount - 1)), "split");
  EXPECT_EQ(name(static_cast<Algorithm>(kAlgorithmCount - 1)), "direct");
  EXPECT_EQ(name(static_cast<ReduceOp>(kReduceOpCount - 1)), "bxor");
  EXPECT_EQ(name(static_cast<DataType>(kDataTypeCount - 1)), "bool");
}

TEST(Vocabulary, ValuesOutsideTheListsHaveANameToo) {
  EXPECT_EQ(name(static_cast<Operation>(255)), "unknown");
  EXPECT_EQ(name(static_cast<Algorithm>(13)), "unknown");
  EXPECT_EQ(name(static_cast<ErrorCode>(99)), "unknown");
  EXPECT_EQ(element_bytes(static_cast<DataType>(200)), 1U);
}

TEST(Vocabulary, NamesThatAreNoneAreRefused) {
  EXPECT_FALSE(operation_named("allreduce").has_value());
  EXPECT_FALSE(algorithm_named("Ring").has_value());
  EXPECT_FALSE(reduce_op_named("").has_value());
}

TEST(Vocabulary, CallsAreDescribedByWhatTheirRanksMustAgreeOn) {
  EXPECT_EQ(describe({.operation = Operation::barrier, .algorithm = Algorithm::dissemination}),
            "barrier (dissemination)");
  EXPECT_EQ(describe({.operation = Operation::all_reduce,
                      .algorithm = Algorithm::ring,
                      .type = DataType::f32,
                      .reduce_op = ReduceOp::mean,
                      .count = 409600}),
            "all_reduce (ring, f32 mean, count 409600)");
  EXPECT_EQ(describe({.operation = Operation::gather,
                      .algorithm = Algorithm::linear,
                      .type = DataType::i32,
                      .root = 1,
                      .count = 10}),
            "gather (linear, i32, count 10, root 1)");
}

}  // namespace
}  // namespace shoal

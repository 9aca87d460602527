#include "fingerprint.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace shoal::detail {
namespace {

constexpr std::uint64_t kHistory = 0xfedcba9876543210;

TEST(Fingerprint, NamesItsCallWhateverTheDigest) {
  const auto last = [](std::size_t count) { return static_cast<std::uint8_t>(count - 1); };
  const Call largest{.operation = static_cast<Operation>(last(kOperationCount)),
                     .algorithm = static_cast<Algorithm>(last(kAlgorithmCount)),
                     .type = static_cast<DataType>(last(kDataTypeCount)),
                     .reduce_op = static_cast<ReduceOp>(last(kReduceOpCount)),
                     .root = 8189};
  const Call plain{.operation = Operation::barrier, .algorithm = Algorithm::dissemination};
  const Call rooted{.operation = Operation::reduce,
                    .algorithm = Algorithm::binomial,
                    .type = DataType::bf16,
                    .reduce_op = ReduceOp::max,
                    .root = 0};
  for (const Call& call : {largest, plain, rooted}) {
    for (const std::uint64_t history : {std::uint64_t{0}, ~std::uint64_t{0}, kHistory}) {
      const Call named = call_in(fingerprint_of(call, history));
      EXPECT_EQ(named.operation, call.operation);
      EXPECT_EQ(named.algorithm, call.algorithm);
      EXPECT_EQ(named.type, call.type);
      EXPECT_EQ(named.reduce_op, call.reduce_op);
      EXPECT_EQ(named.root, call.root);
    }
  }
}

TEST(Fingerprint, RootBeyondItsFieldReadsAsNone) {
  Call call{.operation = Operation::broadcast, .root = 8190};
  EXPECT_EQ(call_in(fingerprint_of(call, kHistory)).root, -1);
  EXPECT_EQ(call_in(fingerprint_of(call, kHistory)).operation, Operation::broadcast);
  call.root = 16383;
  EXPECT_EQ(call_in(fingerprint_of(call, kHistory)).root, -1);
}

TEST(Fingerprint, HoldsTheDigestsUpper35Bits) {
  const Call call{.operation = Operation::broadcast, .root = 1};
  EXPECT_EQ(fingerprint_of(call, kHistory) >> 29, kHistory >> 29);
  EXPECT_NE(fingerprint_of(call, kHistory), fingerprint_of(call, kHistory + (std::uint64_t{1} << 29)));
}

TEST(Fingerprint, OfAMessageFromPointToPointDependsOnTypeAndDigestAlone) {
  const std::uint64_t floats = point_to_point_fingerprint(DataType::f32, kHistory);
  EXPECT_NE(floats, point_to_point_fingerprint(DataType::i32, kHistory));
  EXPECT_NE(floats, point_to_point_fingerprint(DataType::f32, ~kHistory));
  EXPECT_EQ(call_in(floats).operation, Operation::send);
  EXPECT_EQ(call_in(floats).type, DataType::f32);
}

}  // namespace
}  // namespace shoal::detail

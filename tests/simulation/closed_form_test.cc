// cost() is what the algorithms move: bytes, messages and steps, on every rank, in every world up to 40 and some larger
// ones, whether P divides the count or not. Without data, so that sizes cost nothing.

#include <gtest/gtest.h>

#include <array>

#include "algorithms.h"
#include "selection.h"
#include "support/checked_call.h"
#include "support/takes.h"

namespace shoal::test {
namespace {

void expect_closed_form(const CallSpec& spec) {
  const std::array calls{CheckedCall(spec)};
  const auto result = simulate(spec.ranks, [&](Communicator& comm) { calls[0].run(comm); },
                               {.schedule = SimulationOptions::Schedule::in_order,
                                .channel_bytes = SimulationOptions::kUnbounded,
                                .phantom = true});
  ASSERT_TRUE(result.ok()) << text_of(spec) << '\n' << result;
  ASSERT_EQ(difference_from_cost(result, calls), "");
}

class ClosedForm : public testing::TestWithParam<int> {};

TEST_P(ClosedForm, IsWhatEveryAlgorithmMoves) {
  const int ranks = GetParam();
  const auto p = static_cast<std::size_t>(ranks);
  const std::size_t block = detail::kPairwiseBlockBytes / sizeof(float);
  for (const Operation operation : operations()) {
    std::vector<Algorithm> algorithms{Algorithm::automatic};
    for (const Algorithm algorithm : detail::algorithms_of(operation)) algorithms.push_back(algorithm);
    for (const Algorithm algorithm : algorithms) {
      for (const std::size_t count :
           {std::size_t{0}, std::size_t{28}, p - 1, p, 10 * p + p / 2, block * p, 2 * block * p + 1}) {
        if (!takes(algorithm, operation, ranks, count, 4)) continue;
        expect_closed_form({.operation = operation,
                            .algorithm = algorithm,
                            .ranks = ranks,
                            .count = operation == Operation::barrier ? 0 : count,
                            .root = has_root(operation) ? ranks / 3 : 0,
                            .type = DataType::f32,
                            .seed = count});
      }
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(ClosedFormOfLargeVectors, HoldsBeyondTwoToTheThirtyFirstBytesAndElements) {
  // 2^31 + 5 f32 are more than 2^31 elements, and chunks of more than 2^31 bytes.
  constexpr std::size_t kElements = (std::size_t{1} << 31) + 5;
  for (const Operation operation : operations()) {
    if (operation == Operation::barrier) continue;
    for (const Algorithm algorithm : detail::algorithms_of(operation)) {
      if (!takes(algorithm, operation, 3, kElements, 4)) continue;
      expect_closed_form({.operation = operation,
                          .algorithm = algorithm,
                          .ranks = 3,
                          .count = kElements,
                          .root = has_root(operation) ? 2 : 0,
                          .type = DataType::f32});
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ClosedForm, testing::Range(1, 41), testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(MoreRanks, ClosedForm, testing::Values(63, 64, 65, 100), testing::PrintToStringParamName());

}  // namespace
}  // namespace shoal::test

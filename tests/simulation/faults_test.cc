// What must never happen, under many schedules: that a death leaves a survivor waiting, that calls which do not fit
// together end in anything but a mismatch, or in a result that is wrong without a word.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "selection.h"
#include "simulation/proof_matrix.h"
#include "support/serial_reference.h"
#include "support/takes.h"

namespace shoal::test {
namespace {

using ::testing::HasSubstr;

SimulationResult run(const std::vector<CheckedCall>& calls, int ranks, const SimulationOptions& options) {
  return simulate(
      ranks,
      [&](Communicator& comm) {
        for (const CheckedCall& call : calls) call.run(comm);
      },
      options);
}

class Death : public testing::TestWithParam<int> {};

TEST_P(Death, AtAnyPointIsAPeerLostForWhoeverCannotFinish) {
  const int ranks = GetParam();
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const int victim = static_cast<int>(mixed_bits(seed) % static_cast<unsigned>(ranks));
    SimulationOptions options{.seed = seed, .channel_bytes = drawn_channel(seed)};
    const auto whole = run(drawn_calls(ranks, seed), ranks, options);
    ASSERT_TRUE(whole.ok()) << whole;
    const std::uint64_t points = whole.ranks[static_cast<std::size_t>(victim)].scheduling_points;
    options.death = {.rank = victim, .point = 1 + mixed_bits(seed + 1'000) % points};

    const auto result = run(drawn_calls(ranks, seed), ranks, options);
    SCOPED_TRACE("rank " + std::to_string(victim) + " dies at point " + std::to_string(options.death->point));
    ASSERT_EQ(result.deadlock, "") << result;
    for (int rank = 0; rank < ranks; ++rank) {
      const SimulatedRank& ran = result.ranks[static_cast<std::size_t>(rank)];
      ASSERT_EQ(ran.died, rank == victim) << result;
      if (rank == victim || ran.error.empty()) continue;  // Done already with all that it needed of the dead one.
      ASSERT_EQ(ran.error_code, ErrorCode::peer_lost) << result;
      ASSERT_THAT(ran.error, HasSubstr("peer " + std::to_string(victim) + " lost")) << result;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Death, testing::Values(2, 3, 6, 7, 8, 9, 17), testing::PrintToStringParamName());

/// The same call as one rank makes it by mistake; none where the operation knows no such difference.
using Mistake = std::function<std::optional<CallSpec>(CallSpec, std::uint64_t bits)>;

bool is_v(Operation operation) {
  return operation == Operation::all_gather_v || operation == Operation::gather_v ||
         operation == Operation::scatter_v || operation == Operation::all_to_all_v;
}

std::optional<CallSpec> another_root(CallSpec spec, std::uint64_t bits) {
  if (!has_root(spec.operation)) return std::nullopt;
  const auto others = static_cast<unsigned>(spec.ranks - 1);
  spec.root =
      static_cast<int>((static_cast<unsigned>(spec.root) + 1 + bits % others) % static_cast<unsigned>(spec.ranks));
  return spec;
}

std::optional<CallSpec> another_count(CallSpec spec, std::uint64_t) {
  // (Which lengths of v-operations meet is a question of pairs.)
  if (spec.operation == Operation::barrier || is_v(spec.operation)) return std::nullopt;
  spec.count += static_cast<std::size_t>(spec.ranks);  // Every chunk is another.
  return spec;
}

std::optional<CallSpec> another_algorithm(CallSpec spec, std::uint64_t bits) {
  const auto algorithms = detail::algorithms_of(spec.operation);
  if (algorithms.size() < 2) return std::nullopt;
  const auto mine = static_cast<std::size_t>(std::ranges::find(algorithms, spec.algorithm) - algorithms.begin());
  spec.algorithm = algorithms[(mine + 1 + bits % (algorithms.size() - 1)) % algorithms.size()];
  return spec;
}

std::optional<CallSpec> another_operation(CallSpec spec, std::uint64_t bits) {
  const auto all = operations();
  const auto mine = static_cast<std::size_t>(std::ranges::find(all, spec.operation) - all.begin());
  spec.operation = all[(mine + 1 + bits % (all.size() - 1)) % all.size()];
  spec.algorithm = detail::algorithms_of(spec.operation).front();
  if (!has_root(spec.operation)) spec.root = 0;
  return spec;
}

std::optional<CallSpec> another_type(CallSpec spec, std::uint64_t) {
  if (spec.operation == Operation::barrier) return std::nullopt;
  spec.type = spec.type == DataType::u32 ? DataType::f32 : DataType::u32;
  return spec;
}

std::optional<CallSpec> another_reduction(CallSpec spec, std::uint64_t) {
  if (!reduces(spec.operation)) return std::nullopt;
  spec.reduce_op = ReduceOp::max;
  return spec;
}

/// Two calls that fit, the one that does not, and two more that fit; `odd` makes the mistake.
void expect_mismatch(const CallSpec& right, const CallSpec& wrong, int odd, std::uint64_t seed) {
  const CallSpec gather{
      .operation = Operation::all_gather, .algorithm = Algorithm::ring, .ranks = right.ranks, .count = 7, .seed = seed};
  const std::vector<CheckedCall> before{CheckedCall(gather)};
  const CheckedCall call(right);
  const CheckedCall mistake(wrong);
  const std::vector<CheckedCall> after{CheckedCall(gather), CheckedCall({.ranks = right.ranks})};
  const auto result = simulate(right.ranks,
                               [&](Communicator& comm) {
                                 for (const CheckedCall& fitting : before) fitting.run(comm);
                                 (comm.rank() == odd ? mistake : call).run(comm);
                                 if (seed % 2 == 0) return;  // The mistake is in the last call.
                                 for (const CheckedCall& fitting : after) fitting.run(comm);
                               },
                               {.seed = seed, .channel_bytes = drawn_channel(seed / 2)});
  SCOPED_TRACE(text_of(right) + "; rank " + std::to_string(odd) + ": " + text_of(wrong));
  ASSERT_EQ(result.deadlock, "") << result;
  int mismatches = 0;
  for (const SimulatedRank& rank : result.ranks) {
    mismatches += rank.error_code == ErrorCode::mismatch ? 1 : 0;
    ASSERT_TRUE(rank.error.empty() || rank.error_code == ErrorCode::mismatch) << result;
  }
  ASSERT_GT(mismatches, 0) << result;
}

void expect_mismatches(const Mistake& mistake_of) {
  int cases = 0;
  for (const Operation operation : operations()) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      const std::uint64_t bits = mixed_bits(seed * 64 + static_cast<std::uint64_t>(operation));
      const int ranks = 2 + static_cast<int>(seed % 8);
      const auto below = [&](std::size_t most, int shift) { return (bits >> shift) % most; };
      const auto algorithms = detail::algorithms_of(operation);
      const CallSpec right{
          .operation = operation,
          .algorithm = algorithms[below(algorithms.size(), 8)],
          .ranks = ranks,
          .count = operation == Operation::barrier ? 0 : below(6 * static_cast<std::size_t>(ranks), 16),
          .root = has_root(operation) ? static_cast<int>(below(static_cast<std::size_t>(ranks), 24)) : 0,
          .seed = bits};
      const auto wrong = mistake_of(right, bits >> 32);
      const auto possible = [](const CallSpec& spec) {
        return takes(spec.algorithm, spec.operation, spec.ranks, spec.count, 4);
      };
      if (!wrong || !possible(right) || !possible(*wrong)) continue;
      expect_mismatch(right, *wrong, static_cast<int>(below(static_cast<std::size_t>(ranks), 40)), seed);
      if (testing::Test::HasFatalFailure()) return;
      ++cases;
    }
  }
  EXPECT_GE(cases, 200);
}

TEST(MismatchedCalls, WithAnotherRootAreFound) { expect_mismatches(another_root); }
TEST(MismatchedCalls, WithAnotherCountAreFound) { expect_mismatches(another_count); }
TEST(MismatchedCalls, ByAnotherAlgorithmAreFound) { expect_mismatches(another_algorithm); }
TEST(MismatchedCalls, OfAnotherOperationAreFound) { expect_mismatches(another_operation); }
TEST(MismatchedCalls, OfAnotherTypeAreFound) { expect_mismatches(another_type); }
TEST(MismatchedCalls, WithAnotherReductionAreFound) { expect_mismatches(another_reduction); }

}  // namespace
}  // namespace shoal::test

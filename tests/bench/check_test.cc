// --check can tell right from wrong: every form of call passes as it is, and is caught with one element changed.
#include "bench/check.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "bench/operations.h"
#include "calls/with_type.h"
#include "shoal/simulation.h"

namespace shoal::bench {
namespace {

TEST(FirstDifference, OfEqualValuesThereIsNone) {
  const std::array<float, 3> got{1, 2, 3};
  EXPECT_EQ(first_difference<float>("out", got, [](std::size_t i) { return static_cast<float>(i + 1); }), std::nullopt);
}

TEST(FirstDifference, NamesIndexGotAndExpected) {
  const std::array<float, 4> got{1, 2, 2.5, 9};
  EXPECT_EQ(first_difference<float>("out", got, [](std::size_t i) { return static_cast<float>(i + 1); }),
            (Difference{.buffer = "out", .index = 2, .got = "2.5", .expected = "3"}));
}

TEST(FirstDifference, IsOneOfBitsNotOfValues) {
  const std::array<float, 1> got{-0.0F};
  EXPECT_EQ(first_difference<float>("in", got, [](std::size_t) { return 0.0F; }),
            (Difference{.buffer = "in", .index = 0, .got = "-0", .expected = "0"}));
}

TEST(FirstDifference, ShowsSmallIntegersAsNumbers) {
  const std::array<std::int8_t, 1> got{65};
  EXPECT_EQ(first_difference<std::int8_t>("in", got, [](std::size_t) { return std::int8_t{-1}; }),
            (Difference{.buffer = "in", .index = 0, .got = "65", .expected = "-1"}));
}

constexpr int kRanks = 3;

// Every form: operation and whether in place, on 12 elements.
std::vector<calls::CollectiveCall> forms() {
  std::vector<calls::CollectiveCall> all;
  for (const Operation operation : operations()) {
    if (!has_data(operation)) continue;
    all.push_back({.operation = operation, .count = 12});
    if (calls::has_in_place_form(operation)) all.push_back({.operation = operation, .count = 12, .in_place = true});
  }
  return all;
}

std::string text_of(const calls::CollectiveCall& call) {
  return std::string(name(call.operation)) + (call.in_place ? " in place" : "");
}

/// Runs `body(comm, in, out, checked)` on every rank of a simulated world, with buffers prepared for `call`.
template <class Body>
void with_buffers(const calls::CollectiveCall& call, Body&& body) {
  const auto result = simulate(kRanks, [&](Communicator& comm) {
    const auto sizes = calls::buffer_sizes(call, kRanks, comm.rank());
    std::vector<float> in(sizes.in);
    std::vector<float> out(sizes.out);
    const CheckedBuffers<float> checked(call, kRanks, comm.rank(), in, out);
    checked.prepare();
    body(comm, std::span<float>(in), std::span<float>(out), checked);
  });
  EXPECT_TRUE(result.ok()) << result;
}

TEST(Check, RightResultsPass) {
  for (const auto& call : forms()) {
    with_buffers(call, [&](Communicator& comm, auto in, auto out, const auto& checked) {
      calls::make_call(comm, call, in, out);
      EXPECT_EQ(checked.first_wrong(Algorithm::pairwise), std::nullopt) << text_of(call) << ", rank " << comm.rank();
    });
  }
}

TEST(Check, CallThatDidNothingIsFound) {
  for (const auto& call : forms()) {
    int found = 0;
    with_buffers(call, [&](Communicator&, auto, auto, const auto& checked) {
      if (checked.first_wrong(Algorithm::pairwise)) ++found;
    });
    const bool at_root_alone = call.operation == Operation::reduce || call.operation == Operation::gather;
    const bool off_root_alone = call.operation == Operation::broadcast;
    EXPECT_EQ(found, at_root_alone ? 1 : off_root_alone ? kRanks - 1 : kRanks) << text_of(call);
  }
}

TEST(Check, EveryElementCounts) {
  for (const auto& call : forms()) {
    with_buffers(call, [&](Communicator& comm, auto in, auto out, const auto& checked) {
      calls::make_call(comm, call, in, out);
      for (const auto& [buffer, content] : {std::pair("in", in), std::pair("out", out)}) {
        for (std::size_t i = 0; i < content.size(); ++i) {
          // Of a reduce_scatter in place only the rank's own chunk, of 4 elements, means anything.
          const std::size_t first = 4 * static_cast<std::size_t>(comm.rank());
          const bool scatters_in_place = call.in_place && call.operation == Operation::reduce_scatter;
          const bool matters = !scatters_in_place || (i >= first && i < first + 4);
          const float right = content[i];
          content[i] = right + 100.0F;
          const auto wrong = checked.first_wrong(Algorithm::pairwise);
          content[i] = right;
          ASSERT_EQ(wrong.has_value(), matters) << text_of(call) << ", " << buffer << '[' << i << ']';
          if (!matters) continue;
          EXPECT_EQ(*wrong, (Difference{.buffer = scatters_in_place ? "own chunk" : buffer,
                                        .index = scatters_in_place ? i - first : i,
                                        .got = shown(right + 100.0F),
                                        .expected = shown(right)}))
              << text_of(call);
        }
      }
    });
  }
}

TEST(Check, RingIsHeldToItsOwnOrder) {
  const calls::CollectiveCall call{
      .operation = Operation::all_reduce, .algorithm = Algorithm::ring, .count = 999, .in_place = true};
  with_buffers(call, [&](Communicator& comm, auto in, auto out, const auto& checked) {
    calls::make_call(comm, call, in, out);
    EXPECT_EQ(checked.first_wrong(Algorithm::ring), std::nullopt);
    EXPECT_NE(checked.first_wrong(Algorithm::pairwise), std::nullopt);  // Some sum of 999 is rounded otherwise.
  });
}

}  // namespace
}  // namespace shoal::bench

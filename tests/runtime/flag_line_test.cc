#include "flag_line.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "wait.h"

// The rounds of Window on plain memory, a thread a rank.

namespace shoal::detail {
namespace {

constexpr WaitPolicy kFewPolls{.polls = 50, .yields = 50};

// Distinct for each rank and round, and each word of the payload.
std::array<std::uint64_t, kArrivalBytes / 8> content(int rank, std::uint64_t round) {
  std::array<std::uint64_t, kArrivalBytes / 8> words{};
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = round * 1'000'003 + i * 101 + static_cast<std::uint64_t>(rank);
  return words;
}

TEST(FlagLine, HasNotArrivedBeforeItsRoundNorInAnother) {
  auto line = std::make_unique<FlagLine>();
  EXPECT_FALSE(line->has_arrived(2));
  line->write(77, {});
  EXPECT_FALSE(line->has_arrived(2));
  line->publish(2);
  EXPECT_TRUE(line->has_arrived(2));
  EXPECT_FALSE(line->has_arrived(4));
  EXPECT_EQ(line->fingerprint, 77U);
}

// Each rank reads the other's whole payload after it has seen its round, and nothing else keeps the other from
// overwriting it: two lines a rank must be enough. Under ThreadSanitizer a missing order is a report.
TEST(FlagLineOnTwoThreads, TwoLinesARankKeepEveryRoundWhole) {
  constexpr std::uint64_t kRounds = 50'000;
  const auto lines = std::make_unique<std::array<std::array<FlagLine, 2>, 2>>();
  const auto states = std::make_unique<std::array<RankState, 2>>();
  std::array<std::uint64_t, 2> wrong{};
  const auto play = [&](int rank) {
    const auto me = static_cast<std::size_t>(rank);
    const std::size_t other = 1 - me;
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      FlagLine& mine = (*lines)[me][round % 2];
      const auto own = content(rank, round);
      mine.write(round, std::as_bytes(std::span(own)));
      mine.publish(round);
      wake((*states)[other]);
      const FlagLine& theirs = (*lines)[other][round % 2];
      wait_until((*states)[me], kFewPolls, [&] { return theirs.has_arrived(round); },
                 [](std::chrono::nanoseconds) { return false; });
      const auto expected = content(1 - rank, round);
      wrong[me] += theirs.fingerprint != round || std::memcmp(theirs.payload, expected.data(), sizeof expected) != 0;
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(wrong, (std::array<std::uint64_t, 2>{0, 0}));
}

}  // namespace
}  // namespace shoal::detail

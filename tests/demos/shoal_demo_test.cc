// shoal-demo under shoalrun, as users run it: its lines against the golden ones at four ranks, and against plain
// serial loops at others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "shoal/runtime/version.h"
#include "support/command.h"

namespace shoal::test {
namespace {

using Row = std::vector<int>;
using Rows = std::vector<Row>;

const std::vector<std::string> kNames{"gather",     "scatter",        "broadcast",  "all_to_all",
                                      "all_gather", "reduce_scatter", "all_reduce", "reduce"};

CommandResult demo(int ranks, const std::string& name) {
  return run_command({SHOALRUN, "-n", std::to_string(ranks), SHOAL_DEMO, name});
}

std::string golden() {
  std::ifstream file{GOLDEN_WORLD_OF_FOUR};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// ---- The serial world: `before` and `after` hold one row a rank; an empty row stands for Python's None. --------

struct Shown {
  Rows before;
  Rows after;
};

std::string list(const Row& row, const std::string& suffix) {
  if (row.empty()) return "None";
  std::string text;
  for (const int value : row) text += (text.empty() ? "[" : ", ") + std::to_string(value) + suffix;
  return text + "]";
}

Row tens_from_zero(int count) {
  Row row;
  for (int i = 0; i < count; ++i) row.push_back(10 * i);
  return row;
}

/// Row r is {10 r, 10 r + 1, ...}.
Rows tens_and_ones(int ranks, int count) {
  Rows rows;
  for (int rank = 0; rank < ranks; ++rank) {
    rows.emplace_back();
    for (int i = 0; i < count; ++i) rows.back().push_back(10 * rank + i);
  }
  return rows;
}

Row sums(const Rows& rows) {
  Row total(rows[0].size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) total[i] += row[i];
  }
  return total;
}

Row joined(const Rows& rows) {
  Row all;
  for (const Row& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

Rows only_rank(int rank, int ranks, const Row& row) {
  Rows rows(static_cast<std::size_t>(ranks));
  rows[static_cast<std::size_t>(rank)] = row;
  return rows;
}

Rows on_every_rank(int ranks, const Row& row) { return Rows(static_cast<std::size_t>(ranks), row); }

/// Elements 2 r and 2 r + 1 for rank r.
Rows dealt_in_pairs(const Row& row) {
  Rows rows;
  for (std::size_t i = 0; i < row.size(); i += 2) rows.push_back({row[i], row[i + 1]});
  return rows;
}

Shown expected(const std::string& name, int ranks) {
  const Rows fours = tens_and_ones(ranks, 4);
  const Rows pairs = tens_and_ones(ranks, 2 * ranks);
  if (name == "gather") return {fours, only_rank(0, ranks, joined(fours))};
  if (name == "all_gather") return {fours, on_every_rank(ranks, joined(fours))};
  if (name == "reduce_scatter") return {pairs, dealt_in_pairs(sums(pairs))};
  if (name == "reduce") return {pairs, only_rank(0, ranks, sums(pairs))};
  if (name == "broadcast") {
    const Row data = tens_from_zero(ranks);
    return {only_rank(ranks == 1 ? 0 : 1, ranks, data), on_every_rank(ranks, data)};
  }
  if (name == "scatter") {
    Rows parts;
    for (const int value : tens_from_zero(ranks)) parts.push_back({value});
    return {only_rank(0, ranks, tens_from_zero(ranks)), parts};
  }
  if (name == "all_to_all") {  // Rank r ends with elements 2 r and 2 r + 1 of every rank.
    Rows received(pairs.size());
    for (std::size_t to = 0; to < pairs.size(); ++to) {
      for (const Row& from : pairs) received[to].insert(received[to].end(), {from[2 * to], from[2 * to + 1]});
    }
    return {pairs, received};
  }
  Row mean;  // all_reduce; the mean of 0, 10, ..., 10 (ranks - 1) is 5 (ranks - 1), a whole number.
  for (const int sum : sums(pairs)) mean.push_back(sum / ranks);
  return {pairs, on_every_rank(ranks, mean)};
}

std::string expected_text(const std::string& name, int ranks) {
  std::string title = name;
  for (char& letter : title) letter = letter == '_' ? ' ' : letter;
  const Shown shown = expected(name, ranks);
  std::string text = "\nTest " + title + "\n";
  for (std::size_t rank = 0; rank < shown.before.size(); ++rank) {
    const std::string who = "Rank " + std::to_string(rank);
    text += who + " previous data: " + list(shown.before[rank], "") + "\n";
    text += who + " data: " + list(shown.after[rank], name == "all_reduce" ? ".0" : "") + "\n";
  }
  return text;
}

std::string barrier_text(int ranks) {
  std::string text = "\nTest barrier\n";
  for (int rank = 0; rank < ranks; ++rank) {
    text += "Rank " + std::to_string(rank) + " left the barrier that all " + std::to_string(ranks) + " entered\n";
  }
  return text;
}

// ---- The claims -------------------------------------------------------------------------------------------------

TEST(ShoalDemo, PrintsTheOriginalsLinesAtFourRanksInRankOrder) {
  const CommandResult result = demo(4, "all");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, barrier_text(4) + golden());
}

class ShoalDemoAt : public testing::TestWithParam<int> {};

TEST_P(ShoalDemoAt, EveryRankPrintsWhatASerialLoopGivesIt) {
  const int ranks = GetParam();
  std::string all = barrier_text(ranks);
  for (const std::string& name : kNames) all += expected_text(name, ranks);
  const CommandResult result = demo(ranks, "all");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, all);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ShoalDemoAt, testing::Values(1, 2, 3, 5, 8));

TEST(ShoalDemo, EachNamePrintsItsOwnSectionOnly) {
  EXPECT_EQ(demo(3, "barrier").out, barrier_text(3));
  for (const std::string& name : kNames) EXPECT_EQ(demo(3, name).out, expected_text(name, 3)) << name;
}

TEST(ShoalDemo, RunByItselfIsAWorldOfOne) {
  const CommandResult result = run_command({SHOAL_DEMO, "broadcast"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, expected_text("broadcast", 1));
}

TEST(ShoalDemo, AWrongCommandLineGivesOneMessageThatNamesItAndExit2) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"all_gathr"}, {}, {"gather", "scatter"}, {"--ranks", "gather"}}) {
    std::vector<std::string> argv{SHOAL_DEMO};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const CommandResult result = run_command(argv);
    EXPECT_EQ(result.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, testing::MatchesRegex("shoal-demo: [^\n]+\n"));
  }
  EXPECT_THAT(run_command({SHOAL_DEMO, "all_gathr"}).err, testing::HasSubstr("all_gathr"));
  EXPECT_THAT(run_command({SHOAL_DEMO}).err, testing::HasSubstr("NAME"));
}

TEST(ShoalDemo, AWrongCommandLineOfManyRanksIsToldOnceToo) {
  const CommandResult result = demo(4, "all_gathr");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  const std::string told = "shoal-demo: ";
  const std::size_t first = result.err.find(told);
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(result.err.rfind(told), first) << result.err;
}

TEST(ShoalDemo, OutputThatCannotBeWrittenIsAnError) {
  const CommandResult result = run_command({"sh", "-c", "exec \"$0\" gather > /dev/full", SHOAL_DEMO});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "shoal-demo: standard output cannot be written\n");
}

TEST(ShoalDemo, HelpAndVersionAreAnswersNotErrors) {
  const CommandResult version = run_command({SHOAL_DEMO, "--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.out, "shoal-demo " + std::string(kVersion) + "\n");
  const CommandResult help = run_command({SHOAL_DEMO, "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const std::string& name : kNames) EXPECT_THAT(help.out, testing::HasSubstr(name));
}

}  // namespace
}  // namespace shoal::test

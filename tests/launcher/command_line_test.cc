#include "command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shell_words.h"

namespace shoal::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;
using testing::ThrowsMessage;
using Words = std::vector<std::string>;

CommandLine parse(const Words& arguments) {
  std::vector<const char*> argv{"shoalrun"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return parse_command_line(static_cast<int>(argv.size()), argv.data(), 6);
}

TEST(ShellWords, AreTakenApartAsAShellWould) {
  EXPECT_THAT(shell_words(""), Optional(ElementsAre()));
  EXPECT_THAT(shell_words("  gdb  -ex run\t--args "), Optional(ElementsAre("gdb", "-ex", "run", "--args")));
  EXPECT_THAT(shell_words(R"(gdb -ex 'break main' -ex "print \"x\"")"),
              Optional(ElementsAre("gdb", "-ex", "break main", "-ex", "print \"x\"")));
  EXPECT_THAT(shell_words(R"(a\ b 'c\d' "e\f" '' x'y'z)"), Optional(ElementsAre("a b", R"(c\d)", R"(e\f)", "", "xyz")));
  EXPECT_THAT(shell_words("valgrind --log-file=log.%q{RANK}"),
              Optional(ElementsAre("valgrind", "--log-file=log.%q{RANK}")));
}

TEST(ShellWords, WithAnOpenQuoteAreNone) {
  for (const char* text : {"'", "a \"b", "'a\" b", "end\\"}) EXPECT_EQ(shell_words(text), std::nullopt) << text;
}

TEST(CommandLine, WithoutOptionsRunsAsManyRanksAsThereAreCores) {
  const CommandLine line = parse({"true"});
  EXPECT_EQ(line.ranks(), 6);
  EXPECT_EQ(parse({"-n", "auto", "true"}).ranks(), 6);
  EXPECT_EQ(line.stall_timeout, std::chrono::minutes(10));
  EXPECT_EQ(line.grace, std::chrono::seconds(10));
  EXPECT_TRUE(line.input.reaches(0));
  EXPECT_FALSE(line.input.reaches(1));
}

TEST(CommandLine, OfSeveralProgramsGivesEachItsRanksInOrder) {
  const CommandLine line = parse({"--tag",  "-n", "1", "-x", "A=1", "a",      "x",       ":", "-n", "3",
                                  "--wdir", "/",  "b", ":",  "-n2", "--wrap", "time -p", "c", "y",  "z"});
  EXPECT_TRUE(line.tag);
  ASSERT_EQ(line.ranks(), 6);
  EXPECT_THAT(line.program_of(0).arguments, ElementsAre("a", "x"));
  EXPECT_THAT(line.program_of(0).environment, ElementsAre("A=1"));
  for (const int rank : {1, 2, 3}) EXPECT_THAT(line.program_of(rank).arguments, ElementsAre("b"));
  EXPECT_EQ(line.program_of(2).directory, "/");
  for (const int rank : {4, 5}) EXPECT_THAT(line.program_of(rank).arguments, ElementsAre("time", "-p", "c", "y", "z"));
}

TEST(CommandLine, AfterTwoDashesLeavesColonsToTheProgram) {
  EXPECT_THAT(parse({"-n", "1", "--", "sh", "-c", ":", ":", "-n"}).program_of(0).arguments,
              ElementsAre("sh", "-c", ":", ":", "-n"));
}

TEST(CommandLine, TakesListsOfRanks) {
  EXPECT_THAT(parse({"-n", "8", "--only-rank", "0,5-7", "true"}).only_ranks, Optional(ElementsAre(0, 5, 6, 7)));
  EXPECT_EQ(parse({"-n", "8", "true"}).only_ranks, std::nullopt);
}

TEST(CommandLine, RoutesInput) {
  const CommandLine all = parse({"-n", "3", "--stdin", "all", "cat"});
  const CommandLine last = parse({"-n", "3", "--stdin", "2", "cat"});
  const CommandLine none = parse({"-n", "3", "--stdin", "none", "cat"});
  for (const int rank : {0, 1, 2}) {
    EXPECT_TRUE(all.input.reaches(rank));
    EXPECT_EQ(last.input.reaches(rank), rank == 2);
    EXPECT_FALSE(none.input.reaches(rank));
  }
}

TEST(CommandLine, RefusesWhatCannotBeAndNamesIt) {
  const std::vector<std::pair<Words, std::string>> cases{
      {{"-n", "2", "--stdin", "2", "true"}, "--stdin 2"},
      {{"--stdin", "some", "true"}, "--stdin some"},
      {{"-n", "2", "--only-rank", "0,2", "true"}, "--only-rank 0,2"},
      {{"-n", "4", "--only-rank", "3-1", "true"}, "--only-rank 3-1"},
      {{"-n", "4", "--only-rank", "1,,2", "true"}, "--only-rank 1,,2"},
      {{"--tee", "true"}, "--log-dir"},
      {{"--max-restarts", "-1", "true"}, "--max-restarts -1"},
      {{"--max-restarts", "2x", "true"}, "--max-restarts 2x"},
      {{"--wrap", "gdb 'x", "true"}, "--wrap"},
      {{"--stall-timeout", "never", "true"}, "--stall-timeout never"},
      {{"-n", "1", "a", ":"}, "no program to run after :"},
      {{"-n", "1", "a", ":", "-n", "1"}, "no program"},
      {{"-n", "1", "a", ":", "b"}, "each of several programs"},
      {{"a", ":", "-n", "1", "b"}, "each of several programs"},
      {{"-n", "1", "a", ":", "--tag", "-n", "1", "b"}, "unknown option --tag after :"},
      {{"-n", "2000000000", "a", ":", "-n", "2000000000", "b"}, "ranks"},
  };
  for (const auto& [arguments, named] : cases)
    EXPECT_THAT([&arguments = arguments] { parse(arguments); }, ThrowsMessage<std::exception>(HasSubstr(named)))
        << testing::PrintToString(arguments);
}

}  // namespace
}  // namespace shoal::detail

// SHOAL_EXPLAIN: what a job tells of its choices.

#include <gmock/gmock.h>

#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/temporary_folder.h"

namespace shoal::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// Lines of standard error that begin as explanations do, of a bench that makes many equal calls.
std::vector<std::string> explanations(int ranks, const std::string& arguments, const std::string& variable) {
  const TemporaryFolder cache;
  std::vector<std::string> argv{SHOALRUN, "-n", std::to_string(ranks), SHOAL_BENCH, "--seconds", "0.001"};
  std::istringstream words(arguments);
  for (std::string word; words >> word;) argv.push_back(word);
  const auto result = run_command(argv, {variable, "XDG_CACHE_HOME=" + cache.path().string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<std::string> told;
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("shoal: ")) told.push_back(line);
  return told;
}

std::vector<std::string> of(const std::vector<std::string>& lines, const std::string& subject) {
  std::vector<std::string> found;
  for (const std::string& line : lines)
    if (line.find(subject) != std::string::npos) found.push_back(line);
  return found;
}

TEST(Explain, TellsEachKindOfCallOnceAndItsMeanAtTheEnd) {
  const auto lines = explanations(2, "--op all_reduce --sizes 64K,1M", "SHOAL_EXPLAIN=1");
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines[0],
              MatchesRegex("shoal: calibration measured now: hop [0-9]+ ns, copy [0-9.]+ bytes/ns in cache and "
                           "[0-9.]+ out of it, yield [0-9]+ ns, [0-9]+ cores"));
  for (const char* const count : {"16384", "262144"}) {
    const auto told = of(lines, "all_reduce sum f32 x " + std::string(count) + " over 2 ranks: ");
    ASSERT_THAT(told, SizeIs(2)) << count;
    EXPECT_THAT(told[0], MatchesRegex("shoal: all_reduce sum f32 x [0-9]+ over 2 ranks: [a-z_]+, predicted [0-9.]+ us, "
                                      "took [0-9.]+ us; [a-z_]+ [0-9.]+(, [a-z_]+ [0-9.]+)+"));
    EXPECT_THAT(told[1], MatchesRegex("shoal: in all: all_reduce sum f32 x [0-9]+ over 2 ranks: [a-z_]+, [0-9]+ calls, "
                                      "mean [0-9.]+ us, predicted [0-9.]+ us"));
  }
}

TEST(Explain, NamesWhatIsForcedBesideWhatWouldHaveBeenChosen) {
  const auto lines = explanations(2, "--op all_reduce,gather --sizes 64K --algorithm auto", "SHOAL_EXPLAIN=1");
  EXPECT_THAT(of(lines, "gather f32 over 2 ranks: linear, took "), SizeIs(1));
  const auto forced = explanations(3, "--op all_reduce --sizes 64K --algorithm ring", "SHOAL_EXPLAIN=1");
  const auto told = of(forced, "all_reduce sum f32 x 16384 over 3 ranks: ring (forced), predicted ");
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_THAT(told[0], HasSubstr("direct "));
}

TEST(Explain, SaysNothingUnlessAsked) {
  for (const char* const off : {"SHOAL_EXPLAIN=0", "SHOAL_EXPLAIN="})
    EXPECT_THAT(explanations(2, "--op barrier", off), IsEmpty());
}

TEST(Explain, TellsWhereTheFiguresComeFrom) {
  const TemporaryFolder cache;
  const std::vector<std::string> argv{SHOALRUN, "-n", "2", SHOAL_BENCH, "--seconds", "0.001", "--op", "barrier"};
  const auto run = [&] {
    return run_command(argv, {"SHOAL_EXPLAIN=1", "XDG_CACHE_HOME=" + cache.path().string()}).err;
  };
  EXPECT_THAT(run(), HasSubstr("shoal: calibration measured now: "));
  EXPECT_THAT(run(), HasSubstr("shoal: calibration kept from before: "));
}

}  // namespace
}  // namespace shoal::test

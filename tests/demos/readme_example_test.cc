#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "support/command.h"

namespace shoal::test {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ReadmeExample, StandsInTheReadmeWordForWord) {
  EXPECT_THAT(text_of(README), testing::HasSubstr("```cpp\n" + text_of(README_EXAMPLE_SOURCE) + "```\n"));
}

TEST(ReadmeExample, PrintsTheMeanAndTheBytesThatTheReadmeShows) {
  const CommandResult result = run_command({SHOALRUN, "-n", "4", README_EXAMPLE});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  // Mean of 0, 1, 2, 3; 4000 bytes of data, of which a rank sends 3/4 in each of the two halves.
  const std::string line = "mean 1.5, sent 6000000 bytes\n";
  EXPECT_EQ(result.out, line);
  EXPECT_THAT(text_of(README), testing::HasSubstr(line));
}

}  // namespace
}  // namespace shoal::test

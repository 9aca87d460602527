// shoal as a part of another project (add_subdirectory, FetchContent).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "install/installed_copy.h"

namespace shoal::test {
namespace {

namespace fs = std::filesystem;

// The words of the command that compiles `source`, but those that name its own files.
std::vector<std::string> compile_command(const nlohmann::json& commands, const std::string& source) {
  std::vector<std::string> words;
  for (const auto& entry : commands) {
    if (fs::path(entry.at("file").get<std::string>()).filename() != source + ".cc") continue;
    std::istringstream command(entry.at("command").get<std::string>());
    for (std::string word; command >> word;) {
      if (word.find("/" + source + ".") == std::string::npos) words.push_back(word);
    }
  }
  return words;
}

TEST(ParentProject, GetsTheTargetsAndKeepsItsSettings) {  // parent/CMakeLists.txt looks at them.
  const CommandResult result =
      configure(fs::path(INSTALL_SOURCES) / "parent", fresh_directory("parent_settings"), {"-DSHOAL_SOURCE=" PROJECT});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(ParentProject, CompilesItsProgramsAsBeforeButWithWhereTheHeadersAre) {
  const fs::path directory = fresh_directory("parent_commands");
  const CommandResult result = configure(fs::path(INSTALL_SOURCES) / "parent", directory, {"-DSHOAL_SOURCE=" PROJECT});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto commands = nlohmann::json::parse(text_of(directory / "compile_commands.json"));
  const auto plain = compile_command(commands, "plain");
  const auto ranks = compile_command(commands, "ranks");
  ASSERT_FALSE(plain.empty());

  std::vector<std::string> unlike = ranks;
  for (const std::string& word : plain) {
    const auto found = std::find(unlike.begin(), unlike.end(), word);
    ASSERT_NE(found, unlike.end()) << word;
    unlike.erase(found);
  }
  EXPECT_EQ(unlike.size(), 4U);  // Of three folders, and the generated one.
  for (const std::string& word : unlike) {
    EXPECT_TRUE(word.starts_with("-I/") && word.ends_with("/include")) << word;
  }
}

}  // namespace
}  // namespace shoal::test

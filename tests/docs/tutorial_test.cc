// The commands of docs/tutorial.md, as they stand there, one after the other in a shell that ends at the first that fails;
// and what they print, beside what is quoted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "support/command.h"
#include "support/temporary_folder.h"

namespace shoal::test {
namespace {

struct Command {
  std::string line;
  std::vector<std::string> quoted;  // Of what it prints; "..." stands for what is left out.
};

std::vector<Command> commands_of(const std::string& page_name) {
  std::ifstream page(page_name);
  std::vector<Command> commands;
  bool in_block = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      in_block = !in_block;
    } else if (in_block && line.starts_with("$ ")) {
      commands.push_back({.line = line.substr(2), .quoted = {}});
    } else if (in_block && line != "..." && !commands.empty()) {
      commands.back().quoted.push_back(line);
    }
  }
  return commands;
}

/// Without what differs from run to run and, in the last digits, from machine type to machine type.
std::string stable(std::string text) {
  const std::vector<std::pair<std::regex, std::string>> changing{{std::regex("  [0-9]+ samples/s"), ""},
                                                                 {std::regex("  [0-9a-z ]+ left"), ""},
                                                                 {std::regex("([0-9]\\.[0-9]{3})[0-9]+"), "$1"}};
  for (const auto& [pattern, replacement] : changing) text = std::regex_replace(text, pattern, replacement);
  return text;
}

TEST(Tutorial, CommandsDoAndPrintWhatTheyAreSaidTo) {
  const auto commands = commands_of(std::string(PROJECT) + "/docs/tutorial.md");
  EXPECT_GE(commands.size(), 12U);
  const TemporaryFolder folder;
  std::string script = "set -e\nexec 2>&1\ncd " + folder.path().string() + "\n";
  for (std::size_t i = 0; i < commands.size(); ++i) {
    // Where the programs are is the one thing that differs here.
    const bool sets_path = commands[i].line.starts_with("export PATH=");
    script += "echo '@ " + std::to_string(i) + "'\n" +
              (sets_path ? "export PATH=\"" + std::string(PROGRAMS) + ":$PATH\"" : commands[i].line) + "\n";
  }
  const CommandResult result = run_command({"bash", "-c", script + "echo '@ all done'\n"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  ASSERT_TRUE(result.out.ends_with("@ all done\n")) << result.out;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::size_t begin = result.out.find("@ " + std::to_string(i) + "\n");
    const std::string printed = stable(result.out.substr(begin, result.out.find("\n@ ", begin) - begin + 1));
    for (const std::string& line : commands[i].quoted) {
      if (line.starts_with("shoalrun: note: ")) continue;  // Of the cores here.
      EXPECT_THAT(printed, testing::HasSubstr("\n" + stable(line) + "\n")) << commands[i].line;
    }
  }
}

}  // namespace
}  // namespace shoal::test

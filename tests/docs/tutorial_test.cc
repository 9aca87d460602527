// The commands of docs/tutorial.md, as they stand there, one after the other in a shell that ends at the first that fails.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/command.h"
#include "support/temporary_folder.h"

namespace shoal::test {
namespace {

TEST(Tutorial, CommandsDoWhatTheyAreSaidToDo) {
  std::ifstream page(std::string(PROJECT) + "/docs/tutorial.md");
  std::string script = "set -e\n";
  int commands = 0;
  for (std::string line; std::getline(page, line);) {
    // Where the programs are is the one thing that differs here.
    if (!line.starts_with("$ ") || line.starts_with("$ export PATH=")) continue;
    script += line.substr(2) + "\n";
    ++commands;
  }
  EXPECT_GE(commands, 12);
  const TemporaryFolder folder;
  script = "cd " + folder.path().string() + "\nexport PATH=\"" + PROGRAMS + ":$PATH\"\n" + script + "echo all done\n";
  const CommandResult result = run_command({"bash", "-c", script});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_TRUE(result.out.ends_with("all done\n")) << result.out << result.err;
}

}  // namespace
}  // namespace shoal::test

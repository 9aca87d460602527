// docs/errors.md has every message that says that something cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Documentation, HasEveryMessageOfLauncherAndRuntimeThatSaysThatSomethingCannotBe) {
  const fs::path project(PROJECT);
  const std::string page = content_of(project / "docs/errors.md");
  const std::regex message(R"re("[^"\n]*(cannot [^"{\n]*[^"{\n :;,]))re");  // Of a text up to what is filled in.
  int messages = 0;
  for (const char* folder : {"launcher/src", "runtime/src"}) {
    for (const auto& entry : fs::directory_iterator(project / folder)) {
      if (entry.path().extension() != ".cc") continue;
      const std::string source = content_of(entry.path());
      for (std::sregex_iterator match(source.begin(), source.end(), message); match != std::sregex_iterator(); ++match) {
        EXPECT_THAT(page, testing::HasSubstr((*match)[1].str())) << entry.path();
        ++messages;
      }
    }
  }
  EXPECT_GT(messages, 20);
}

}  // namespace

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> pages() {
  const fs::path root(PROJECT);
  std::vector<fs::path> found{root / "README.md", root / "CHANGELOG.md"};
  for (const auto& entry : fs::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  return found;
}

TEST(Documentation, EveryLinkToAFileLeadsToOne) {
  const std::regex link(R"(\]\(([^)#:]+)(#[^)]*)?\))");  // What has a colon is an address elsewhere.
  int links = 0;
  for (const fs::path& page : pages()) {
    std::ifstream file(page);
    std::ostringstream stream;
    stream << file.rdbuf();
    const std::string text = stream.str();
    EXPECT_FALSE(text.empty()) << page;
    for (std::sregex_iterator match(text.begin(), text.end(), link); match != std::sregex_iterator(); ++match) {
      EXPECT_TRUE(fs::exists(page.parent_path() / (*match)[1].str())) << page << ": " << match->str();
      ++links;
    }
  }
  EXPECT_GT(links, 5);
}

}  // namespace

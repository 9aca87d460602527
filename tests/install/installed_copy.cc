#include "install/installed_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace shoal::test {

namespace fs = std::filesystem;

const fs::path& prefix() {
  static const fs::path path = fs::path(INSTALL_TESTS) / "copy" / "moved";
  return path;
}

fs::path library_directory() { return prefix() / LIBRARY_DIRECTORY; }

const std::vector<std::string>& strict_flags() {
  static const std::vector<std::string> flags{"-std=c++20",   "-Wall",    "-Wextra", "-Wpedantic",
                                              "-Wconversion", "-Wshadow", "-Werror"};
  return flags;
}

fs::path fresh_directory(const std::string& name) {
  fs::path path = fs::path(INSTALL_TESTS) / name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

CommandResult configure(const fs::path& source, const fs::path& build, const std::vector<std::string>& definitions,
                        const fs::path& installed) {
  std::vector<std::string> argv{CMAKE, "-S", source, "-B", build, "-G", GENERATOR};
  argv.emplace_back("-DCMAKE_CXX_COMPILER=" COMPILER);
  argv.push_back("-DCMAKE_PREFIX_PATH=" + installed.string());
  argv.insert(argv.end(), definitions.begin(), definitions.end());
  return run_command(argv);
}

CommandResult build_all(const fs::path& build) { return run_command({CMAKE, "--build", build}); }

std::string output_of(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  const CommandResult result = run_command(argv, environment);
  EXPECT_EQ(result.exit_code, 0) << argv.front() << "\n" << result.out << result.err;
  return result.out;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  EXPECT_TRUE(stream.is_open()) << file;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace shoal::test

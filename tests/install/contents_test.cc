// What the installed copy consists of, and what of shoal reaches a user's program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "install/installed_copy.h"
#include "shoal/runtime/version.h"

namespace shoal::test {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<std::string> kLibraries{"runtime", "collectives", "launcher"};
const std::vector<std::string> kPrograms{"shoalrun", "shoal-demo", "shoal-train", "shoal-sim", "shoal-bench"};

std::set<std::string> headers_below(const fs::path& include) {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(include)) {
    if (entry.path().extension() == ".h") found.insert(fs::relative(entry.path(), include));
  }
  return found;
}

// A source file that includes every installed header.
fs::path source_with_all_headers(const std::string& directory) {
  fs::path file = fresh_directory(directory) / "all_headers.cc";
  std::ofstream source(file);
  for (const std::string& header : headers_below(prefix() / "include")) source << "#include <" << header << ">\n";
  source << "int main() {}\n";
  return file;
}

// ---- Files ----------------------------------------------------------------------------------------------

TEST(InstalledFiles, AreEveryPublicHeaderAndNoOther) {
  std::set<std::string> expected{"shoal/runtime/version.h"};
  for (const std::string& folder : kLibraries) expected.merge(headers_below(fs::path(PROJECT) / folder / "include"));
  EXPECT_GT(expected.size(), 20U);
  EXPECT_EQ(headers_below(prefix() / "include"), expected);
}

TEST(InstalledFiles, LibrariesAreVersioned) {
  for (const std::string& name : kLibraries) {
    const std::string file = "libshoal_" + name + ".so";
    const fs::path directory = library_directory();
    EXPECT_EQ(fs::read_symlink(directory / file), file + "." + SOVERSION);
    EXPECT_EQ(fs::read_symlink(directory / (file + "." + SOVERSION)), file + "." + std::string(kVersion));
    EXPECT_TRUE(fs::is_regular_file(directory / (file + "." + std::string(kVersion))));
    EXPECT_THAT(output_of({"readelf", "-d", directory / file}),
                HasSubstr("Library soname: [" + file + "." + SOVERSION + "]"));
  }
}

// The directories in which `file` looks for the libraries it needs, as the linker wrote them.
std::vector<std::string> search_path(const fs::path& file) {
  std::vector<std::string> found;
  const std::regex entry(R"(\((?:RPATH|RUNPATH)\).*\[(.*)\])");
  for (const std::string& line : sorted_lines(output_of({"readelf", "-d", file}))) {
    if (std::smatch match; std::regex_search(line, match, entry)) found.push_back(match[1]);
  }
  return found;
}

TEST(InstalledFiles, FindEachOtherFromWhereverTheyAre) {
  for (const std::string& name : kLibraries) {
    EXPECT_THAT(search_path(library_directory() / ("libshoal_" + name + ".so")), ElementsAre("$ORIGIN"));
  }
  for (const std::string& name : kPrograms) {
    EXPECT_THAT(search_path(prefix() / "bin" / name), ElementsAre("$ORIGIN/../" LIBRARY_DIRECTORY));
  }
}

TEST(InstalledFiles, NameNeitherTheBuildNorThePlaceTheyWereMadeFor) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(library_directory())) {
    if (entry.path().extension() != ".cmake" && entry.path().extension() != ".pc") continue;
    ++files;
    for (const char* place : {PROJECT, BUILD, "/nowhere"}) {
      EXPECT_THAT(text_of(entry.path()), Not(HasSubstr(place))) << entry.path();
    }
  }
  EXPECT_EQ(files, 6);  // Config, its version, targets, targets of this build's type, two of pkg-config.
}

// ---- Symbols --------------------------------------------------------------------------------------------

std::vector<std::string> exported_symbols(const fs::path& library) {
  std::vector<std::string> names;
  for (const std::string& line : sorted_lines(output_of({"nm", "-D", "--defined-only", "--format=posix", library}))) {
    names.push_back(line.substr(0, line.find(' ')));
  }
  return names;
}

TEST(ExportedSymbols, AreOfNamespaceShoalAlone) {
  // Mangled: perhaps what it is (type information, guard, thunk, local variable), then a nested name that begins with
  // `shoal`.
  const std::regex ours("_Z(T[ISVTWH]|T[hvc][^N]*_|GV)?Z?N[KRO]*5shoal.+");
  for (const std::string& library : kLibraries) {
    const auto symbols = exported_symbols(library_directory() / ("libshoal_" + library + ".so"));
    EXPECT_THAT(symbols, Not(IsEmpty()));
    for (const std::string& symbol : symbols) EXPECT_TRUE(std::regex_match(symbol, ours)) << library << ": " << symbol;
  }
  EXPECT_THAT(exported_symbols(library_directory() / "libshoal_runtime.so"),
              Contains("_ZTIN5shoal5ErrorE"));  // Without it an Error could not be caught by its type.
}

// ---- Headers --------------------------------------------------------------------------------------------

// Macros that headers under a directory shoal/ define (`#define NAME`) or take away (`#undef NAME`), and the
// headers under such a directory that were read.
struct Preprocessed {
  std::vector<std::string> macros;
  std::set<std::string> headers;
};

Preprocessed preprocess(const fs::path& source, const fs::path& include) {
  Preprocessed result;
  const std::regex marker("# [0-9]+ \"(.*)\".*");
  const std::string below = include.string() + "/shoal/";
  bool ours = false;
  // -dD keeps the directives, and the markers that tell which file each is of.
  std::istringstream text(output_of({COMPILER, "-std=c++20", "-E", "-dD", "-I", include, source}));
  for (std::string line; std::getline(text, line);) {
    if (std::smatch match; line.starts_with("# ") && std::regex_match(line, match, marker)) {
      ours = match[1].str().starts_with(below);
      if (ours) result.headers.insert(fs::relative(match[1].str(), include));
    } else if (ours && (line.starts_with("#define ") || line.starts_with("#undef "))) {
      result.macros.push_back(line);
    }
  }
  return result;
}

TEST(InstalledHeaders, DefineNoMacro) {
  const auto result = preprocess(source_with_all_headers("macros"), prefix() / "include");
  EXPECT_THAT(result.macros, IsEmpty());
  EXPECT_EQ(result.headers, headers_below(prefix() / "include"));  // All were looked at.
}

TEST(InstalledHeaders, MacroInAHeaderWouldBeFound) {
  const fs::path directory = fresh_directory("planted");
  fs::create_directories(directory / "include/shoal");
  std::ofstream(directory / "include/shoal/planted.h") << "#include <cerrno>\n#define PLANTED 1\n#undef EDOM\n";
  std::ofstream(directory / "source.cc") << "#include <shoal/planted.h>\n#define OWN 1\n";
  EXPECT_THAT(preprocess(directory / "source.cc", directory / "include").macros,
              ElementsAre("#define PLANTED 1", "#undef EDOM"));
}

TEST(InstalledHeaders, GiveTheStrictestUserNoWarning) {
  std::vector<std::string> argv{COMPILER};
  argv.insert(argv.end(), strict_flags().begin(), strict_flags().end());
  for (const char* more : {"-Wsign-conversion", "-Wold-style-cast", "-Woverloaded-virtual", "-fsyntax-only"}) {
    argv.emplace_back(more);
  }
  argv.insert(argv.end(), {"-I", prefix() / "include", source_with_all_headers("warnings")});
  const CommandResult result = run_command(argv);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace shoal::test

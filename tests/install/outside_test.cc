// A user's programs, built against the installed copy and run under its shoalrun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "install/installed_copy.h"
#include "shoal/runtime/version.h"

namespace shoal::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const fs::path kOutside = fs::path(INSTALL_SOURCES) / "outside";

// Ranks 0, 1, 2 bring 1, 2, 3; 10, 20, 30; and 0.5 each. Of 2 simulated ranks' 8 bytes each sends half, twice.
void expect_program_works(const fs::path& program) {
  EXPECT_THAT(sorted_lines(output_of({prefix() / "bin/shoalrun", "-n", "3", program})),
              ElementsAre("rank 0 of 3: 6 60 1.5", "rank 1 of 3: 6 60 1.5", "rank 2 of 3: 6 60 1.5",
                          "simulated: 2 4, sent 8 bytes"));
  EXPECT_EQ(output_of({program, "mistake"}),
            "invalid_argument: rank 0: broadcast: root 7 is not a rank of this communicator (size 1)\n");
}

void expect_own_ranks_work(const fs::path& program) {
  EXPECT_THAT(sorted_lines(output_of({program})),
              ElementsAre("rank 0: 100 101 102", "rank 1: 100 101 102", "rank 2: 100 101 102",
                          "statuses 0 1, rank 1: on purpose"));
}

// By their versioned names, where the copy is now.
void expect_libraries_of_the_copy(const fs::path& program, const std::vector<std::string>& names) {
  const std::string loaded = output_of({"ldd", program});
  for (const std::string& name : names) {
    const std::string file = "libshoal_" + name + ".so." + SOVERSION;
    EXPECT_THAT(loaded, HasSubstr(file + " => "));
    for (const std::string& line : sorted_lines(loaded)) {
      if (line.find(file) == std::string::npos) continue;
      const std::size_t arrow = line.find("=> ") + 3;
      EXPECT_EQ(fs::canonical(line.substr(arrow, line.rfind(" (") - arrow)),
                fs::canonical(library_directory() / ("libshoal_" + name + ".so")));
    }
  }
}

TEST(OutsideProgram, BuiltByCMakeRunsUnderTheInstalledShoalrun) {
  const fs::path build_directory = fresh_directory("by_cmake");
  const CommandResult configured = configure(kOutside, build_directory);
  ASSERT_EQ(configured.exit_code, 0) << configured.out << configured.err;
  const CommandResult built = build_all(build_directory);
  ASSERT_EQ(built.exit_code, 0) << built.out << built.err;

  expect_libraries_of_the_copy(build_directory / "program", {"runtime", "collectives"});
  expect_program_works(build_directory / "program");
  expect_libraries_of_the_copy(build_directory / "own_ranks", {"runtime", "collectives", "launcher"});
  expect_own_ranks_work(build_directory / "own_ranks");
}

// One compiler command, as a user types it into a shell.
void compile(const fs::path& source, const std::string& package, const fs::path& program) {
  std::string command = COMPILER;
  for (const std::string& flag : strict_flags()) command += " " + flag;
  command += " '" + source.string() + "' -o '" + program.string() + "' $(pkg-config --cflags --libs " + package + ")" +
             " -Wl,-rpath,$(pkg-config --variable=libdir " + package + ")";
  const CommandResult built =
      run_command({"sh", "-c", command}, {"PKG_CONFIG_PATH=" + (library_directory() / "pkgconfig").string()});
  ASSERT_EQ(built.exit_code, 0) << command << "\n" << built.out << built.err;
}

TEST(OutsideProgram, BuiltWithPkgConfigRunsUnderTheInstalledShoalrun) {
  const fs::path program = fresh_directory("by_pkg_config") / "program";
  ASSERT_NO_FATAL_FAILURE(compile(kOutside / "program.cc", "shoal", program));
  expect_libraries_of_the_copy(program, {"runtime", "collectives"});
  expect_program_works(program);
}

TEST(OutsideProgram, BuiltWithPkgConfigStartsItsOwnRanks) {
  const fs::path program = fresh_directory("own_by_pkg_config") / "own_ranks";
  ASSERT_NO_FATAL_FAILURE(compile(kOutside / "own_ranks.cc", "shoal-launcher", program));
  expect_libraries_of_the_copy(program, {"runtime", "collectives", "launcher"});
  expect_own_ranks_work(program);
}

TEST(PkgConfig, GivesNoFlagsButWhereThingsAre) {
  for (const char* package : {"shoal", "shoal-launcher"}) {
    std::istringstream flags(output_of({"pkg-config", "--cflags", "--libs", package},
                                       {"PKG_CONFIG_PATH=" + (library_directory() / "pkgconfig").string()}));
    int count = 0;
    for (std::string flag; flags >> flag; ++count) {
      EXPECT_TRUE(flag.starts_with("-I") || flag.starts_with("-L") || flag.starts_with("-lshoal_")) << flag;
    }
    EXPECT_GE(count, 4) << package;
  }
}

// Versions that differ in the minor number may differ in anything, before 1.0.
TEST(FindPackage, VersionThatTheCopyCannotStandForIsRefusedNamingBoth) {
  const std::string own = SOVERSION;  // MAJOR.MINOR
  const std::size_t minor = own.find('.') + 1;
  const std::string next_minor = own.substr(0, minor) + std::to_string(std::stoi(own.substr(minor)) + 1);
  for (const std::string& wanted : {std::string("99"), next_minor, own + ".99"}) {
    const CommandResult result =
        configure(fs::path(INSTALL_SOURCES) / "versions", fresh_directory("version_" + wanted), {"-DWANTED=" + wanted});
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr("requested version \"" + wanted + "\""));
    EXPECT_THAT(result.err, HasSubstr("shoalConfig.cmake, version: " + std::string(kVersion)));
  }
}

TEST(FindPackage, VersionOfTheCopyIsFoundInIt) {
  const CommandResult result = configure(fs::path(INSTALL_SOURCES) / "versions", fresh_directory("version_own"),
                                         {std::string("-DWANTED=") + SOVERSION});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("found shoal " + std::string(kVersion) + " in " +
                                    (library_directory() / "cmake/shoal").string()));
}

TEST(InstalledPrograms, RunFromWhereTheyWereMoved) {
  const fs::path bin = prefix() / "bin";
  for (const char* program : {"shoalrun", "shoal-demo", "shoal-train", "shoal-sim", "shoal-bench"}) {
    EXPECT_EQ(sorted_lines(output_of({bin / program, "--version"})),
              std::vector{std::string(program) + " " + std::string(kVersion)});
  }
  EXPECT_THAT(output_of({bin / "shoalrun", "-n", "4", bin / "shoal-demo", "all"}),
              HasSubstr(text_of(GOLDEN_WORLD_OF_FOUR)));
}

}  // namespace
}  // namespace shoal::test

// shoal's static libraries: built, installed and used by the same outside project, which must get from find_package
// all that they are made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "install/installed_copy.h"

namespace shoal::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StaticLibraries, AreFoundWithAllTheyAreMadeOf) {
  const fs::path directory = fresh_directory("static");
  const CommandResult configured = configure(PROJECT, directory / "build",
                                             {"-DBUILD_SHARED_LIBS=OFF", "-DSHOAL_PROGRAMS=OFF", "-DSHOAL_TESTS=OFF",
                                              "-DCMAKE_INSTALL_PREFIX=" + (directory / "copy").string()});
  ASSERT_EQ(configured.exit_code, 0) << configured.err;
  const CommandResult built = build_all(directory / "build");
  ASSERT_EQ(built.exit_code, 0) << built.out << built.err;
  output_of({CMAKE, "--install", directory / "build"});
  EXPECT_TRUE(fs::exists(directory / "copy" / LIBRARY_DIRECTORY / "libshoal_runtime.a"));

  const CommandResult outside =
      configure(fs::path(INSTALL_SOURCES) / "outside", directory / "outside", {}, directory / "copy");
  ASSERT_EQ(outside.exit_code, 0) << outside.err;
  const CommandResult programs = build_all(directory / "outside");
  ASSERT_EQ(programs.exit_code, 0) << programs.out << programs.err;
  EXPECT_THAT(output_of({"ldd", directory / "outside/program"}), Not(HasSubstr("libshoal")));
  EXPECT_THAT(sorted_lines(output_of({directory / "copy/bin/shoalrun", "-n", "2", directory / "outside/program"})),
              ElementsAre("rank 0 of 2: 3 30 1", "rank 1 of 2: 3 30 1", "simulated: 2 4, sent 8 bytes"));
  EXPECT_THAT(sorted_lines(output_of({directory / "outside/own_ranks"})),
              ElementsAre("rank 0: 100 101 102", "rank 1: 100 101 102", "rank 2: 100 101 102",
                          "statuses 0 1, rank 1: on purpose"));

  // And one command with pkg-config.
  const std::string command = COMPILER " -std=c++20 '" INSTALL_SOURCES "/outside/own_ranks.cc' -o '" +
                              (directory / "by_pkg_config").string() +
                              "' $(pkg-config --static --cflags --libs shoal-launcher)";
  output_of({"sh", "-c", command},
            {"PKG_CONFIG_PATH=" + (directory / "copy" / LIBRARY_DIRECTORY / "pkgconfig").string()});
  EXPECT_THAT(output_of({directory / "by_pkg_config"}), HasSubstr("statuses 0 1, rank 1: on purpose\n"));
}

}  // namespace
}  // namespace shoal::test

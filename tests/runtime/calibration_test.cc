// What is measured of a machine, and what is believed of a file that keeps it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "calibration_file.h"
#include "measure_calibration.h"
#include "shoal/runtime/cores.h"
#include "support/temporary_folder.h"

namespace shoal {
namespace {

namespace fs = std::filesystem;
using detail::load_calibration;
using detail::store_calibration;
using test::TemporaryFolder;

constexpr Calibration kFigures{.hop_ns = 140.25,
                               .cached_bytes_per_ns = 21.5,
                               .uncached_bytes_per_ns = 7.75,
                               .yield_ns = 900.5,
                               .cores = 2,
                               .cache_bytes = 1 << 20};
const std::string kKey = "shoal 1, a processor, 4 ranks";

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  return place == std::string::npos ? text : text.replace(place, what.size(), with);
}

TEST(CalibrationFile, GivesBackWhatItWasGivenAndLeavesNothingBesides) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "a" / "b" / "c.json";
  EXPECT_EQ(load_calibration(file, kKey), std::nullopt);
  ASSERT_TRUE(store_calibration(file, kKey, kFigures));
  EXPECT_EQ(load_calibration(file, kKey), kFigures);
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()), 1);
}

TEST(CalibrationFile, OfAnotherMachineOrReleaseIsNone) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "c.json";
  ASSERT_TRUE(store_calibration(file, kKey, kFigures));
  EXPECT_EQ(load_calibration(file, kKey + " "), std::nullopt);
  EXPECT_NE(detail::calibration_file(folder.path(), kKey), detail::calibration_file(folder.path(), kKey + " "));
  EXPECT_NE(detail::calibration_key(4, 2), detail::calibration_key(5, 2));
  EXPECT_NE(detail::calibration_key(4, 2), detail::calibration_key(4, 3));
}

TEST(CalibrationFile, ThatIsDamagedAnywhereIsNone) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "c.json";
  ASSERT_TRUE(store_calibration(file, kKey, kFigures));
  const std::string whole = text_of(file);
  const auto is_none = [&](const std::string& text) {
    std::ofstream(file, std::ios::trunc) << text;
    EXPECT_EQ(load_calibration(file, kKey), std::nullopt) << text;
  };
  const std::size_t end = whole.find_last_of('}');
  for (std::size_t bytes = 0; bytes <= end; ++bytes) is_none(whole.substr(0, bytes));
  for (const char* wrong :
       {"0.0", "-140.25", "1e300", "1e999", "null", "\"140.25\"", "[140.25]", "{}", "true", "NaN", ""})
    is_none(replaced(whole, "140.25", wrong));
  for (const char* wrong : {"0", "-21.5", "1e30"}) is_none(replaced(whole, "21.5", wrong));
  for (const char* wrong : {"0", "-7.75", "1e30"}) is_none(replaced(whole, "7.75", wrong));
  for (const char* wrong : {"-1", "1e30"}) is_none(replaced(whole, "900.5", wrong));
  for (const char* wrong : {"0", "-2", "2.5", "4294967298"})
    is_none(replaced(whole, "\"cores\": 2", "\"cores\": " + std::string(wrong)));
  is_none(replaced(whole, "hop_ns", "hop_us"));
  is_none(replaced(whole, "calibration/1", "calibration/2"));
  is_none("[" + whole + "]");
  is_none(whole + whole);
  is_none(std::string(1 << 20, ' ') + whole);  // Whoever made that did not mean us.
  std::ofstream(file, std::ios::trunc) << whole;
  EXPECT_EQ(load_calibration(file, kKey), kFigures);
}

TEST(CalibrationFile, ThatIsNoFileIsNone) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "c.json");
  EXPECT_EQ(load_calibration(folder.path() / "c.json", kKey), std::nullopt);
  EXPECT_EQ(load_calibration("/dev/zero", kKey), std::nullopt);
}

TEST(CalibrationFile, IsNotKeptWhereNothingCanBeAndThatIsAll) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_FALSE(store_calibration(folder.path() / "file" / "c.json", kKey, kFigures));
  fs::create_directory(folder.path() / "taken.json");
  EXPECT_FALSE(store_calibration(folder.path() / "taken.json", kKey, kFigures));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);
}

TEST(CalibrationFile, ThatSeveralJobsWriteIsAlwaysAWholeOne) {
  constexpr int kWriters = 3;
  constexpr int kTimes = 200;
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "c.json";
  ASSERT_TRUE(store_calibration(file, kKey, kFigures));
  for (int writer = 1; writer <= kWriters; ++writer) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child != 0) continue;
    Calibration own = kFigures;
    own.hop_ns = 100 * writer;
    bool stored = true;
    for (int time = 0; time < kTimes; ++time) stored = store_calibration(file, kKey, own) && stored;
    _exit(stored ? 0 : 1);
  }
  int running = kWriters;
  while (running > 0) {
    EXPECT_NE(load_calibration(file, kKey), std::nullopt);
    int status = 0;
    if (waitpid(-1, &status, WNOHANG) <= 0) continue;
    --running;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(CalibrationFolder, IsTheUsersCacheIfThereIsOne) {
  const auto folder = [](const char* cache, const char* home) {
    cache == nullptr ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", cache, 1);
    home == nullptr ? ::unsetenv("HOME") : ::setenv("HOME", home, 1);
    return detail::calibration_folder().string();
  };
  const pid_t child = fork();  // The environment is this process's own.
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool right = folder("/cache", "/home/me") == "/cache/shoal" &&
                       folder("", "/home/me") == "/home/me/.cache/shoal" &&
                       folder(nullptr, "/home/me") == "/home/me/.cache/shoal" &&
                       folder("relative", "/home/me") == "/home/me/.cache/shoal" && folder(nullptr, nullptr).empty() &&
                       folder("relative", "").empty();
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Measuring, GivesFiguresOfAMachineAndLeavesTheCallerWhereItMayRun) {
  const std::vector<int> before = allowed_cores().cores;
  const int first = before.front();
  const Calibration spread = detail::measure_calibration({.ranks = 2, .cores = 2, .hop_cores = {first, before.back()}});
  EXPECT_TRUE(detail::is_plausible(spread));
  EXPECT_EQ(spread.yield_ns, 0);
  EXPECT_EQ(spread.cores, 2U);
  const Calibration crowded = detail::measure_calibration({.ranks = 3, .cores = 1, .hop_cores = {first, -1}});
  EXPECT_TRUE(detail::is_plausible(crowded));
  EXPECT_GT(crowded.yield_ns, 0);
  EXPECT_EQ(crowded.hop_ns, kReferenceCalibration.hop_ns);  // Nothing to measure it between.
  EXPECT_EQ(allowed_cores().cores, before);
}

TEST(Measuring, BelievesNoFigureThatCannotBe) {
  const auto plausible = [](auto change) {
    Calibration figures = kFigures;
    change(figures);
    return detail::is_plausible(figures);
  };
  EXPECT_TRUE(detail::is_plausible(kFigures));
  EXPECT_TRUE(detail::is_plausible(kReferenceCalibration));
  for (const double wrong : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(plausible([&](Calibration& c) { c.hop_ns = wrong; }));
    EXPECT_FALSE(plausible([&](Calibration& c) { c.cached_bytes_per_ns = wrong; }));
    EXPECT_FALSE(plausible([&](Calibration& c) { c.uncached_bytes_per_ns = wrong; }));
    EXPECT_EQ(plausible([&](Calibration& c) { c.yield_ns = wrong; }), wrong == 0);
  }
  EXPECT_FALSE(plausible([](Calibration& c) { c.cores = 0; }));
  EXPECT_FALSE(plausible([](Calibration& c) { c.cache_bytes = 0; }));
}

}  // namespace
}  // namespace shoal

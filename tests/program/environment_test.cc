// Variables that say what cannot be: every program tells it once, by the variable's name, and exits 1.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/command.h"

namespace shoal::test {
namespace {

using Arguments = std::vector<std::string>;

/// Each program, so that it would do something if it could.
const std::vector<Arguments>& programs() {
  static const std::vector<Arguments> all{{SHOAL_BENCH, "--op", "barrier"},
                                          {SHOAL_DEMO, "barrier"},
                                          {SHOAL_SIM, "barrier", "--world", "3"},
                                          {SHOAL_TRAIN, "--steps", "1"}};
  return all;
}

std::ptrdiff_t times_in(const std::string& text, const std::string& part) {
  std::ptrdiff_t times = 0;
  for (std::size_t place = text.find(part); place != std::string::npos; place = text.find(part, place + 1)) ++times;
  return times;
}

void expect_refused_once(const std::string& variable, const std::string& message) {
  for (const Arguments& program : programs()) {
    for (const bool launched : {false, true}) {
      SCOPED_TRACE(program[0] + (launched ? " under shoalrun" : ""));
      Arguments argv = launched ? Arguments{SHOALRUN, "-n", "3"} : Arguments{};
      argv.insert(argv.end(), program.begin(), program.end());
      const auto result = run_command(argv, {variable});
      EXPECT_EQ(result.exit_code, 1);
      EXPECT_EQ(result.out, "");
      EXPECT_EQ(times_in(result.err, message), 1) << result.err;
    }
  }
}

TEST(Environment, TimeoutThatIsNoDurationIsRefusedOnce) {
  expect_refused_once("SHOAL_TIMEOUT=soon", ": SHOAL_TIMEOUT=soon is not a duration (500ms, 2s, 10m)\n");
  expect_refused_once("SHOAL_TIMEOUT=-1s", ": SHOAL_TIMEOUT=-1s is not a duration (500ms, 2s, 10m)\n");
}

TEST(Environment, ExplainThatIsNeitherYesNorNoIsRefusedOnce) {
  for (const std::string value : {"yes", "2", "01", " 1"})
    expect_refused_once("SHOAL_EXPLAIN=" + value, ": SHOAL_EXPLAIN=" + value + ": it is 1, or 0 for nothing\n");
}

TEST(Environment, LogLevelThatIsNoneIsRefusedOnceWithThoseThereAre) {
  for (const std::string level : {"loud", "critical", "Warn", "err"})
    expect_refused_once("SHOAL_LOG=" + level,
                        ": SHOAL_LOG=" + level + " is not one of off, error, warn, info, debug, trace\n");
}

TEST(Environment, EveryLogLevelThatIsOneIsTakenAndNoneSaysNothing) {
  for (const std::string level : {"", "off", "error", "warn", "info", "debug", "trace"}) {
    const auto result = run_command({SHOAL_DEMO, "barrier"}, {"SHOAL_LOG=" + level});
    EXPECT_EQ(result.exit_code, 0) << level;
    const bool tells = level == "debug" || level == "trace";  // That the rank joined.
    EXPECT_EQ(times_in(result.err, "joined a job of 1 as rank 0"), tells ? 1 : 0) << level << ": " << result.err;
  }
}

}  // namespace
}  // namespace shoal::test

#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/command.h"
#include "train/files.h"

// Runs of shoal-train under shoalrun, as users make them.

namespace shoal::train::test {

using nlohmann::json;
using shoal::test::CommandResult;
using shoal::test::run_command;

inline CommandResult train(int ranks, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv{SHOALRUN, "-n", std::to_string(ranks), SHOAL_TRAIN};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_command(argv);
}

/// The report of a run that must succeed.
inline json report_of(int ranks, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--report", "-"});
  const CommandResult result = train(ranks, arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.exit_code == 0 ? json::parse(result.out) : json();  // Nothing but the report on standard output.
}

/// Elements of a rank's chunk, as numpy.array_split cuts.
inline std::uint64_t chunk(std::uint64_t elements, int ranks, int rank) {
  const auto parts = static_cast<std::uint64_t>(ranks);
  return elements / parts + (static_cast<std::uint64_t>(rank) < elements % parts ? 1 : 0);
}

/// A small data set that any test may use, and a model for it whose layers, 16 x 7 + 7 = 119 and 7 x 4 + 4 = 32
/// parameters, few world sizes divide. 40 samples are batches of 12, 12, 12 and 4.
class ShoalTrain : public testing::Test {
 protected:
  void SetUp() override { write_quarters(data(), 40, 22); }

  const std::filesystem::path& data() const { return directory_.path(); }

  std::vector<std::string> small(int stage, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{
        "--data",  data().string(),      "--dims", "16,7,4", "--batch", "12", "--steps", "20", "--lr", "0.02",
        "--stage", std::to_string(stage)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  static constexpr std::array<std::uint64_t, 2> kLayers{119, 32};
  static constexpr std::uint64_t kSteps = 20;

 private:
  TemporaryFolder directory_;
};

}  // namespace shoal::train::test

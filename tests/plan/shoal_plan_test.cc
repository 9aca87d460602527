// shoal-plan as users call it: what it prints is what the seed's code printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "plan/golden.h"
#include "support/command.h"

namespace shoal::plan {
namespace {

using nlohmann::json;
using shoal::test::CommandResult;
using shoal::test::run_command;
using testing::HasSubstr;

CommandResult plan(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SHOAL_PLAN);
  return run_command(arguments);
}

json printed(const std::vector<std::string>& arguments) {
  const CommandResult result = plan(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return result.exit_code == 0 ? json::parse(result.out) : json();
}

std::string text_of(const json& number) { return number.dump(); }

TEST(ShoalPlan, ChecksAndPrintsTheSeedsTextByteForByte) {
  std::ifstream file(std::string(PLAN_GOLDEN) + "/check_plan.json");
  std::ostringstream expected;
  expected << file.rdbuf();
  const CommandResult result = plan({"check"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, expected.str() + "\n");
}

TEST(ShoalPlan, PhasesAreThoseOfTheSeedInAnyWorld) {
  for (const int world : {1, 8, 16, 100}) {
    EXPECT_EQ(printed({"phases", "--world", std::to_string(world)}),
              (json{{{"name", "strong"}, {"offset", 0}, {"global_batch", 256}, {"updates", 40}, {"warmup", 10}},
                    {{"name", "weak"},
                     {"offset", 10240},
                     {"global_batch", world * 32},
                     {"updates", 12},
                     {"warmup", 4},
                     {"replicated_base_world", 8}}}));
  }
}

TEST(ShoalPlan, IndicesAreThoseOfTheSeed) {
  for (const auto& one : golden("step_indices.json"))
    EXPECT_EQ(printed({"indices", "--world", text_of(one["world"]), "--phase", one["phase"], "--step",
                       text_of(one["step"]), "--rank", text_of(one["rank"]), "--samples", text_of(one["samples"])}),
              one["indices"])
        << one;
}

TEST(ShoalPlan, MicrobatchesAreThoseOfTheSeed) {
  for (const auto& one : golden("microbatches.json")) {
    std::string lengths = one["lengths"].dump();
    lengths = lengths.substr(1, lengths.size() - 2);
    EXPECT_EQ(printed({"microbatches", "--lengths", lengths, "--max-padded-tokens", text_of(one["max_padded_tokens"]),
                       "--max-examples", text_of(one["max_examples"])}),
              one["batches"])
        << one;
  }
  EXPECT_EQ(printed({"microbatches", "--lengths", "9,1,5"}), (json{{1, 2, 0}}));
  EXPECT_EQ(printed({"microbatches", "--lengths", ""}), json::array());
}

TEST(ShoalPlan, WeightsAreThoseOfTheSeedToTheLastBit) {
  for (const auto& one : golden("weights.json")) {
    const json result = printed({"weights", "--local-frames", text_of(one["local_frames"]), "--local-samples",
                                 text_of(one["local_samples"]), "--global-frames", text_of(one["global_frames"]),
                                 "--global-samples", text_of(one["global_samples"]), "--world", text_of(one["world"])});
    EXPECT_EQ(result, (json{{"weights", one["weights"]}, {"scale", one["scale"]}})) << one;
  }
}

TEST(ShoalPlan, SizesAndChannelsMayBeOthers) {
  // Batches of 10 over 3 ranks from 0 on: the fourth begins at 30.
  EXPECT_EQ(printed({"indices", "--world", "3", "--phase", "strong", "--step", "3", "--rank", "1", "--samples", "38",
                     "--strong-batch", "10"}),
            (json{31, 34, 37}));
  // From 40 * 10 on, 5 a rank of the 2 streams.
  EXPECT_EQ(printed({"indices", "--world", "3", "--phase", "weak", "--step", "1", "--rank", "2", "--samples", "0",
                     "--strong-batch", "10", "--weak-batch", "5", "--weak-base-world", "2"}),
            (json{410, 412, 414, 416, 418}));
  EXPECT_EQ(printed({"weights", "--local-frames", "3", "--local-samples", "1", "--global-frames", "8",
                     "--global-samples", "2", "--world", "2", "--channels", "1", "--channels-weight", "2"}),
            (json{{"weights", {0.8, 1.5}}, {"scale", 2.3 / 3.0}}));
}

struct Refusal {
  std::vector<std::string> arguments;
  std::string reason;
};

TEST(ShoalPlan, WhatCannotBeIsOneMessageAndStatus2) {
  const std::vector<std::string> indices{"indices", "--phase", "strong", "--step", "0", "--samples", "9", "--world"};
  const std::vector<std::string> weights{"weights", "--local-frames",   "1", "--local-samples",
                                         "1",       "--global-samples", "1", "--global-frames"};
  const auto with = [](std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const std::vector<Refusal> refusals{
      {{}, "subcommand"},
      {{"what"}, "subcommand is required"},
      {{"phases"}, "--world is required"},
      {{"phases", "--world", "0"}, "world 0: at least 1 is needed"},
      {{"phases", "--world", "-1"}, "--world -1: not a whole number"},
      {{"phases", "--world", "1e3"}, "--world 1e3: not a whole number"},
      {{"phases", "--world", "18446744073709551616"}, "not a whole number from 0 to 2^64 - 1"},
      {{"phases", "--world", "8", "--strong-warmup", "40"}, "strong warm-up 40: leaves none"},
      {{"phases", "--world", "8", "--weak-base-world", "0"}, "weak base world 0"},
      {with(indices, {"8", "--rank", "8"}), "rank 8: not in a world of 8"},
      {with(indices, {"8", "--rank", "0", "--strong-batch", "4294967296"}), "--strong-batch: more than 2^28 ids"},
      {{"indices", "--phase", "both"}, "--phase"},
      {{"microbatches"}, "--lengths is required"},
      {{"microbatches", "--lengths", "3,x"}, "--lengths 3,x: 'x' is not a whole number"},
      {{"microbatches", "--lengths", "3,,4"}, "'' is not a whole number"},
      {{"microbatches", "--lengths", "3", "--max-examples", "0"}, "max examples 0: at least 1"},
      {{"microbatches", "--lengths", "3", "--max-padded-tokens", "0"}, "max padded tokens 0: at least 1"},
      {with(weights, {"0", "--world", "1"}), "global frames 0: at least 1"},
      {with(weights, {"1", "--world", "0"}), "world 0: at least 1"},
      {with(weights, {"1", "--world", "1", "--channels", "0"}), "channels 0"},
      {with(weights, {"1", "--world", "1", "--channels-weight", "nan"}), "channels weight: a finite number"},
  };
  for (const auto& [arguments, reason] : refusals) {
    const CommandResult result = plan(arguments);
    EXPECT_EQ(result.exit_code, 2) << reason;
    EXPECT_EQ(result.out, "") << reason;
    EXPECT_THAT(result.err, testing::StartsWith("shoal-plan: "));
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST(ShoalPlan, HelpAndVersionArePrinted) {
  EXPECT_THAT(plan({"--help"}).out, HasSubstr("microbatches"));
  EXPECT_THAT(plan({"weights", "--help"}).out, HasSubstr("--global-frames"));
  EXPECT_THAT(plan({"--version"}).out, testing::StartsWith("shoal-plan "));
}

TEST(ShoalPlan, IsRefusedInSeveralProcesses) {
  const CommandResult result = run_command({SHOALRUN, "-n", "2", SHOAL_PLAN, "check"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("shoal-plan: runs in one process"));
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace shoal::plan

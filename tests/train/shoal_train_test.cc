// shoal-train under shoalrun, as users run it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "shoal/runtime/version.h"
#include "support/command.h"
#include "train/files.h"
#include "train/sha256.h"
#include "train/stream.h"

namespace shoal::train {
namespace {

using nlohmann::json;
using shoal::test::CommandResult;
using shoal::test::run_command;
using testing::HasSubstr;

CommandResult train(int ranks, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv{SHOALRUN, "-n", std::to_string(ranks), SHOAL_TRAIN};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_command(argv);
}

/// The report of a run that must succeed.
json report_of(int ranks, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--report", "-"});
  const CommandResult result = train(ranks, arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.exit_code == 0 ? json::parse(result.out) : json();  // Nothing but the report on standard output.
}

std::uint64_t chunk(std::uint64_t elements, int ranks, int rank) {
  const auto parts = static_cast<std::uint64_t>(ranks);
  return elements / parts + (static_cast<std::uint64_t>(rank) < elements % parts ? 1 : 0);
}

/// A small data set that any test may use, and a model for it whose layers, 16 x 7 + 7 = 119 and 7 x 4 + 4 = 32
/// parameters, few world sizes divide. 40 samples are batches of 12, 12, 12 and 4.
class ShoalTrain : public testing::Test {
 protected:
  void SetUp() override { test::write_quarters(data(), 40, 22); }

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
  test::TemporaryDirectory directory_;
};

// ---- Bytes ------------------------------------------------------------------------------------------------------

class ShoalTrainWorlds : public ShoalTrain, public testing::WithParamInterface<std::tuple<int, int>> {};

TEST_P(ShoalTrainWorlds, EveryByteIsPredictedAndTheTextbooks) {
  const auto [ranks, stage] = GetParam();
  const json report = report_of(ranks, small(stage));
  const json& bytes = report.at("bytes");
  EXPECT_TRUE(bytes.at("matches_prediction"));
  EXPECT_TRUE(bytes.at("other").at("matches_prediction"));
  ASSERT_EQ(bytes.at("per_rank").size(), static_cast<std::size_t>(ranks));

  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t sent_for_loss = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const json& of_rank = bytes.at("per_rank").at(static_cast<std::size_t>(rank));
    EXPECT_EQ(of_rank.at("rank"), rank);
    EXPECT_EQ(of_rank.at("sent"), of_rank.at("predicted_sent"));
    EXPECT_EQ(of_rank.at("received"), of_rank.at("predicted_received"));
    sent += of_rank.at("sent").get<std::uint64_t>();
    received += of_rank.at("received").get<std::uint64_t>();
    if (stage == 0) continue;
    sent_for_loss += of_rank.at("by_op").at("all_reduce").at("sent").get<std::uint64_t>();
    std::uint64_t foreign = 0;
    std::uint64_t beyond_the_neighbours = 0;
    for (const std::uint64_t layer : kLayers) {
      foreign += layer - chunk(layer, ranks, rank);
      beyond_the_neighbours += layer - chunk(layer, ranks, (rank + 1) % ranks);
    }
    const std::uint64_t gathers = stage == 3 ? 2 : 1;
    EXPECT_EQ(of_rank.at("by_op").at("reduce_scatter").at("sent"), kSteps * 4 * foreign);
    EXPECT_EQ(of_rank.at("by_op").at("all_gather").at("sent"), gathers * kSteps * 4 * beyond_the_neighbours);
    EXPECT_EQ(of_rank.at("by_op").at("all_gather").at("calls"), gathers * kSteps * 2);
  }
  EXPECT_EQ(sent, received);
  // Each half moves (P-1)/P of the parameters' bytes a rank; the loss, a double, is all-reduced every step.
  const auto others = static_cast<std::uint64_t>(ranks - 1);
  const std::uint64_t halves = stage == 3 ? 3 : 2;
  const std::uint64_t loss = kSteps * 2 * others * 8;
  EXPECT_EQ(sent, halves * kSteps * others * 4 * (119 + 32) + loss);
  EXPECT_EQ(sent_for_loss, stage == 0 ? 0 : loss);
  EXPECT_LT(report.at("loss").at("last").get<double>(), 0.8 * report.at("loss").at("first").get<double>());
}

INSTANTIATE_TEST_SUITE_P(Worlds, ShoalTrainWorlds,
                         testing::Combine(testing::Values(1, 2, 3, 4, 5, 8), testing::Range(0, 4)));

TEST_F(ShoalTrain, ForcedRingMovesTheSameBytesAndIsPredictedToo) {
  for (const int stage : {0, 2, 3}) {
    const json ring = report_of(3, small(stage, {"--algorithm", "ring"}));
    const json usual = report_of(3, small(stage));
    EXPECT_TRUE(ring.at("bytes").at("matches_prediction"));
    for (std::size_t rank = 0; rank < 3; ++rank)
      EXPECT_EQ(ring.at("bytes").at("per_rank").at(rank).at("sent"),
                usual.at("bytes").at("per_rank").at(rank).at("sent"));
  }
}

TEST_F(ShoalTrain, FewerElementsThanRanksLeaveSomeWithEmptyShards) {
  // 1 x 1 images: the autoencoder 1-1 has one layer of two parameters for eight ranks.
  test::TemporaryDirectory directory;
  test::write_file(directory.path() / "train-images-idx3-ubyte", test::idx_images(30, 1, 1));
  test::write_file(directory.path() / "t10k-images-idx3-ubyte", test::idx_images(5, 1, 1));
  std::string expected;
  for (const int ranks : {1, 2, 8}) {
    for (int stage = 0; stage <= 3; ++stage) {
      const json report = report_of(ranks, {"--data", directory.path(), "--task", "autoencode", "--dims", "1,1",
                                            "--steps", "5", "--batch", "7", "--stage", std::to_string(stage)});
      EXPECT_TRUE(report.at("bytes").at("matches_prediction"));
      EXPECT_TRUE(report.at("accuracy").at("test").is_null());
      if (expected.empty()) expected = report.at("param_sha256");
      EXPECT_EQ(report.at("param_sha256"), expected) << ranks << " ranks, stage " << stage;
    }
  }
}

// ---- Bits -------------------------------------------------------------------------------------------------------

void expect_same_run(const json& report, const json& expected) {
  for (const char* key : {"param_sha256", "stream_sha256", "loss", "accuracy"})
    EXPECT_EQ(report.at(key), expected.at(key))
        << report.at("world") << " ranks, stage " << report.at("stage") << ", " << key;
}

TEST_F(ShoalTrain, EveryPowerOfTwoOfRanksAndEveryStageGivesTheSameBits) {
  const json expected = report_of(1, small(0));
  for (const int ranks : {1, 2, 4, 8, 16}) {
    for (int stage = 0; stage <= 3; ++stage) expect_same_run(report_of(ranks, small(stage)), expected);
  }
}

TEST_F(ShoalTrain, SoItIsWithSgd) {
  const json expected = report_of(1, small(0, {"--optimizer", "sgd"}));
  expect_same_run(report_of(2, small(3, {"--optimizer", "sgd"})), expected);
  expect_same_run(report_of(8, small(1, {"--optimizer", "sgd"})), expected);
}

TEST_F(ShoalTrain, EveryStageGivesTheSameBitsAtOtherWorldSizesToo) {
  for (const int ranks : {3, 7}) {
    const json expected = report_of(ranks, small(0));
    for (int stage = 1; stage <= 3; ++stage)
      EXPECT_EQ(report_of(ranks, small(stage)).at("param_sha256"), expected.at("param_sha256")) << ranks;
  }
}

TEST_F(ShoalTrain, SeedsAreDifferentRunsAndTheSameSeedIsTheSameRun) {
  const json one = report_of(2, small(2, {"--seed", "1"}));
  EXPECT_EQ(report_of(2, small(2, {"--seed", "1"})).at("param_sha256"), one.at("param_sha256"));
  const json two = report_of(2, small(2, {"--seed", "2"}));
  EXPECT_NE(two.at("param_sha256"), one.at("param_sha256"));
  EXPECT_NE(two.at("stream_sha256"), one.at("stream_sha256"));
}

TEST_F(ShoalTrain, TheStreamIsTheEpochsOrdersOneAfterTheOther) {
  Sha256 hash;
  for (const std::uint32_t epoch : {0U, 1U, 2U}) {
    const auto order = epoch_order(6, epoch, 40);
    hash.add(std::as_bytes(std::span(order)));
  }
  const json report =
      report_of(3, {"--data", data(), "--dims", "16,4", "--batch", "12", "--epochs", "3", "--seed", "6"});
  EXPECT_EQ(report.at("steps"), 12);  // 4 batches an epoch, the last one short.
  EXPECT_EQ(report.at("stream_sha256"), hash.finish());
}

// ---- The report -------------------------------------------------------------------------------------------------

TEST_F(ShoalTrain, TheReportHasEveryKeyOfItsSchema) {
  const json report = report_of(2, small(1));
  EXPECT_EQ(report.at("schema"), "shoal.train/1");
  EXPECT_EQ(report.at("world"), 2);
  EXPECT_EQ(report.at("stage"), 1);
  EXPECT_EQ(report.at("parameters"), 151);
  EXPECT_EQ(report.at("steps"), 20);
  EXPECT_EQ(report.at("global_batch"), 12);
  EXPECT_EQ(report.at("lanes"), 16);
  EXPECT_EQ(report.at("precision"), "f32");
  EXPECT_EQ(report.at("optimizer"), "adam");
  const json& curve = report.at("loss").at("curve");
  ASSERT_EQ(curve.size(), 20U);
  EXPECT_EQ(curve.front(), json::array({1, report.at("loss").at("first")}));
  EXPECT_EQ(curve.back(), json::array({20, report.at("loss").at("last")}));
  for (const char* key : {"train", "test"}) {
    EXPECT_GE(report.at("accuracy").at(key).get<double>(), 0.0);
    EXPECT_LE(report.at("accuracy").at(key).get<double>(), 1.0);
  }
  for (const json& rank : report.at("memory").at("per_rank"))
    for (const char* key :
         {"rank", "parameter_bytes", "gradient_bytes", "optimizer_bytes", "scratch_bytes", "peak_rss_bytes"})
      EXPECT_TRUE(rank.contains(key)) << key;
  for (const char* key : {"wall_s", "steps_per_s", "samples_per_s", "compute_s", "communicate_s"})
    EXPECT_GT(report.at("time").at(key).get<double>(), 0.0) << key;
}

TEST_F(ShoalTrain, TheMemoryFiguresShowWhatEachStageShards) {
  for (const int ranks : {1, 3, 8}) {
    for (int stage = 0; stage <= 3; ++stage) {
      const json report = report_of(ranks, small(stage));
      for (int rank = 0; rank < ranks; ++rank) {
        std::uint64_t own = 0;
        for (const std::uint64_t layer : kLayers) own += chunk(layer, ranks, rank);
        const json& memory = report.at("memory").at("per_rank").at(static_cast<std::size_t>(rank));
        EXPECT_EQ(memory.at("parameter_bytes"), 4 * (stage == 3 ? own : 151));
        EXPECT_EQ(memory.at("gradient_bytes"), 4 * (stage >= 2 ? own : 151));
        EXPECT_EQ(memory.at("optimizer_bytes"), 8 * (stage >= 1 ? own : 151));
        EXPECT_GE(memory.at("scratch_bytes"), stage >= 2 ? 4 * 119 : 0);
      }
    }
  }
}

TEST_F(ShoalTrain, TheReportGoesToAFileAndTheTableToStandardOutput) {
  const auto file = data() / "report.json";
  const CommandResult result = train(3, small(2, {"--report", file.string(), "--progress", "none"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(std::ifstream(file));
  std::istringstream lines(result.out);
  std::vector<std::string> table;
  for (std::string line; std::getline(lines, line);) table.push_back(line);
  // A title; for three ranks three operations and the total; the verdict.
  ASSERT_EQ(table.size(), 1U + 3 * 4 + 1);
  EXPECT_THAT(table.front(),
              testing::MatchesRegex(" *rank +operation +bytes sent +predicted +bytes received +predicted"));
  const json& rank_2 = report.at("bytes").at("per_rank").at(2);
  const std::string sent = std::to_string(rank_2.at("sent").get<std::uint64_t>());
  const std::string received = std::to_string(rank_2.at("received").get<std::uint64_t>());
  EXPECT_THAT(table.at(12),
              testing::MatchesRegex(" *2 +total +" + sent + " +" + sent + " +" + received + " +" + received));
  EXPECT_EQ(table.back(), "The bytes moved equal those predicted, on every rank and in every operation.");
}

TEST_F(ShoalTrain, RunByItselfIsAWorldOfOne) {
  std::vector<std::string> argv{SHOAL_TRAIN, "--report", "-"};
  const auto arguments = small(3);
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const CommandResult result = run_command(argv);
  EXPECT_EQ(result.exit_code, 0);
  const json report = json::parse(result.out);
  EXPECT_EQ(report.at("world"), 1);
  EXPECT_EQ(report.at("bytes").at("per_rank").at(0).at("sent"), 0);
}

// ---- Refusals ---------------------------------------------------------------------------------------------------

/// Lines of standard error that shoal-train itself wrote: with several ranks still one.
std::vector<std::string> own_messages(const std::string& text) {
  std::vector<std::string> messages;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("shoal-train: ")) messages.push_back(line);
  return messages;
}

void expect_one_message(const CommandResult& result, int exit_code, const std::string& part) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(own_messages(result.err), testing::ElementsAre(HasSubstr(part))) << result.err;
}

TEST_F(ShoalTrain, AWrongCommandLineIsRefusedOnceByTheNameOfTheOption) {
  const std::vector<std::vector<std::string>> wrong{{"--stage", "4"},
                                                    {"--stage", "two"},
                                                    {"--steps", "0"},
                                                    {"--steps", "-3"},
                                                    {"--epochs", "1.5"},
                                                    {"--batch", "0"},
                                                    {"--lanes", "12"},
                                                    {"--lanes", "0"},
                                                    {"--seed", "-1"},
                                                    {"--lr", "nan"},
                                                    {"--lr", "-0.1"},
                                                    {"--dims", "16"},
                                                    {"--dims", "16,0,4"},
                                                    {"--dims", "16,,4"},
                                                    {"--dims", "16,4294967296,4"},
                                                    {"--optimizer", "lbfgs"},
                                                    {"--task", "guess"},
                                                    {"--progress", "x"},
                                                    {"--algorithm", "magic"},
                                                    {"--algorithm", "dissemination"},
                                                    {"--unknown-option", "1"}};
  for (const auto& arguments : wrong) {
    SCOPED_TRACE(arguments[0] + " " + arguments[1]);
    for (const int ranks : {1, 3}) expect_one_message(train(ranks, arguments), 2, arguments[0]);
  }
}

TEST_F(ShoalTrain, MoreRanksThanLanesAreRefusedNamingTheOption) {
  expect_one_message(train(3, small(2, {"--lanes", "2"})), 2, "--lanes 2: 3 ranks");
  EXPECT_TRUE(report_of(2, small(2, {"--lanes", "2"})).at("bytes").at("matches_prediction"));
}

TEST_F(ShoalTrain, DimsThatDoNotFitTheDataAreRefused) {
  expect_one_message(train(2, {"--data", data(), "--dims", "15,4"}), 2, "the first width is 15, but a sample of");
  expect_one_message(train(2, {"--data", data(), "--dims", "16,3"}), 1, "label 3 of sample 1 is none of the model's 3");
  expect_one_message(train(2, {"--data", data(), "--dims", "16,3", "--task", "autoencode"}), 2,
                     "--dims: an autoencoder");
}

TEST_F(ShoalTrain, ABadFileIsNamedOnceForAllRanks) {
  test::TemporaryDirectory directory;
  test::write_quarters(directory.path(), 10, 6);
  const auto labels = directory.path() / "train-labels-idx1-ubyte";
  const std::vector<std::pair<test::Bytes, std::string>> damages{
      {{}, "truncated: 0 bytes"},
      {test::Bytes{0, 0, 8}, "truncated: 3 bytes"},
      {test::idx_header(0x801, {10}), "truncated: the header says 10 labels"},
      {test::idx_labels(test::Bytes(11, 1)), "has 11 labels for the 10 images"},
      {test::idx_images(10, 4, 4), "holds images where labels"},
      {test::Bytes{0x1f, 0x8b, 8, 0, 1, 2, 3}, "gzip"}};
  for (const auto& [bytes, reason] : damages) {
    test::write_file(labels, bytes);
    for (const int ranks : {1, 4}) {
      const CommandResult result = train(ranks, {"--data", directory.path(), "--dims", "16,4", "--steps", "1"});
      expect_one_message(result, 1, labels.string() + ": ");
      EXPECT_THAT(result.err, HasSubstr(reason));
    }
  }
}

TEST_F(ShoalTrain, AReportThatCannotBeWrittenIsKnownBeforeTheTraining) {
  const auto absent = data() / "absent" / "report.json";
  expect_one_message(train(2, small(2, {"--report", absent.string()})), 1, absent.string() + ": cannot be written");
}

TEST_F(ShoalTrain, HelpAndVersionAreAnswersGivenOnce) {
  for (const int ranks : {1, 3}) {
    const CommandResult version = train(ranks, {"--version"});
    EXPECT_EQ(version.exit_code, 0);
    EXPECT_EQ(version.out, "shoal-train " + std::string(kVersion) + "\n");
  }
  const CommandResult help = train(1, {"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* option : {"--data", "--task", "--dims", "--stage", "--optimizer", "--lr", "--batch", "--steps",
                             "--epochs", "--seed", "--lanes", "--algorithm", "--report", "--progress", "gradcheck"})
    EXPECT_THAT(help.out, HasSubstr(option));
}

TEST(ShoalTrainGradcheck, PrintsOneLineOfJson) {
  const std::string golden = std::string(TRAIN_GOLDEN) + "/mlp-linear-4-2/";
  const CommandResult result = run_command({SHOAL_TRAIN, "gradcheck", "--dims", "4,2", "--theta", golden + "theta.npy",
                                            "--x", golden + "x.npy", "--y", golden + "y.npy"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              testing::MatchesRegex("[{]\"loss\":1.79150[0-9]+,\"checked\":10,\"max_difference\":[^\n]+[}]\n"));
}

// ---- Fashion-MNIST ----------------------------------------------------------------------------------------------

class FashionMnist : public testing::TestWithParam<int> {};

TEST_P(FashionMnist, In300StepsOfAdamFourOfFiveAreRecognised) {
  const int stage = GetParam();
  const json report = report_of(2, {"--steps", "300", "--batch", "256", "--stage", std::to_string(stage)});
  EXPECT_GE(report.at("accuracy").at("test").get<double>(), 0.80);
  EXPECT_TRUE(report.at("bytes").at("matches_prediction"));
  EXPECT_EQ(report.at("parameters"), 235146);
}

INSTANTIATE_TEST_SUITE_P(Stages, FashionMnist, testing::Range(0, 4));

TEST(FashionMnistRuns, AtFullSizeTooTheBitsDoNotDependOnWorldOrStage) {
  const json expected = report_of(1, {"--steps", "20", "--stage", "0"});
  for (const auto& [ranks, stage] : std::vector<std::pair<int, int>>{{2, 1}, {4, 2}, {8, 3}}) {
    const json report = report_of(ranks, {"--steps", "20", "--stage", std::to_string(stage)});
    expect_same_run(report, expected);
    EXPECT_TRUE(report.at("bytes").at("matches_prediction"));
    EXPECT_TRUE(report.at("bytes").at("other").at("matches_prediction"));
  }
}

TEST(FashionMnistRuns, AutoencodersLearnToo) {
  const json report = report_of(2, {"--task", "autoencode", "--steps", "60"});
  EXPECT_TRUE(report.at("bytes").at("matches_prediction"));
  EXPECT_LT(report.at("loss").at("last").get<double>(), 0.5 * report.at("loss").at("first").get<double>());
}

}  // namespace
}  // namespace shoal::train

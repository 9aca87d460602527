// shoal-train under shoalrun: what it reports and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "shoal/runtime/version.h"
#include "train/npy.h"
#include "train/shoal_train_runs.h"

namespace shoal::train {
namespace {

using nlohmann::json;
using shoal::test::CommandResult;
using shoal::test::run_command;
using test::chunk;
using test::report_of;
using test::train;
using testing::HasSubstr;

class ShoalTrainReport : public test::ShoalTrain {};
class ShoalTrainRefusal : public test::ShoalTrain {};

// ---- The report -------------------------------------------------------------------------------------------------

TEST_F(ShoalTrainReport, TheReportHasEveryKeyOfItsSchema) {
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

TEST_F(ShoalTrainReport, TheMemoryFiguresShowWhatEachStageShards) {
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

TEST_F(ShoalTrainReport, TheReportGoesToAFileAndTheTableToStandardOutput) {
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

TEST_F(ShoalTrainReport, RunByItselfIsAWorldOfOne) {
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

TEST_F(ShoalTrainRefusal, AWrongCommandLineIsRefusedOnceByTheNameOfTheOption) {
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
                                                    {"--schedule", "step"},
                                                    {"--warmup", "-1"},
                                                    {"--warmup", "2.5"},
                                                    {"--weight-decay", "-1"},
                                                    {"--weight-decay", "inf"},
                                                    {"--weight-decay", "1e39"},
                                                    {"--lr", "1e39"},
                                                    {"--lr", "1e-50"},
                                                    {"--clip", "0"},
                                                    {"--clip", "-2"},
                                                    {"--clip", "nan"},
                                                    {"--clip", "1e39"},
                                                    {"--clip", "1e-300"},
                                                    {"--precision", "f64"},
                                                    {"--accumulate", "0"},
                                                    {"--accumulate", "1099511627776"},
                                                    {"--max-padded-tokens", "0"},
                                                    {"--max-examples", "none"},
                                                    {"--phase", "both"},
                                                    {"--checkpoint-every", "0"},
                                                    {"--checkpoint-keep", "0"},
                                                    {"--data", ""},
                                                    {"--data", "x.npy,"},
                                                    {"--data", "x.npy"},
                                                    {"--init", ""},
                                                    {"--checkpoint", ""},
                                                    {"--export", ""},
                                                    {"--report", ""},
                                                    {"--unknown-option", "1"}};
  for (const auto& arguments : wrong) {
    SCOPED_TRACE(arguments[0] + " " + arguments[1]);
    for (const int ranks : {1, 3}) expect_one_message(train(ranks, arguments), 2, arguments[0]);
  }
}

// D1: known before anything is read, by all ranks alike, also where there are many.
TEST_F(ShoalTrainRefusal, LabelsThatAreNeededAndMissingAreOneMessage) {
  for (const int ranks : {1, 2, 8})
    expect_one_message(train(ranks, {"--data", "x.npy", "--dims", "16,4"}), 2,
                       "--data x.npy: classify needs labels, as in x.npy,LABELS.npy");
}

TEST_F(ShoalTrainRefusal, APhaseLeavesNothingToOtherOptions) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--batch", "12"}, std::vector<std::string>{"--accumulate", "2"},
        std::vector<std::string>{"--steps", "3"}, std::vector<std::string>{"--epochs", "1"},
        std::vector<std::string>{"--checkpoint", "x"}})
    expect_one_message(train(2, {"--phase", "weak", more[0], more[1]}), 2, more[0] + ": not with --phase");
}

TEST_F(ShoalTrainRefusal, ALabelThatNoByteHoldsIsSaidToBeSo) {
  const auto x = data() / "x.npy";
  const auto y = data() / "y.npy";
  write_npy(x, std::array<std::size_t, 2>{2, 3}, std::vector<float>(6));
  std::string text = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n";
  std::string file("\x93NUMPY\x01\0", 8);
  file += static_cast<char>(text.size());
  file += '\0';
  file += text + std::string(8, '\0') + std::string("\x2c\x01\0\0\0\0\0\0", 8);  // 0 and 300.
  test::write_file(y, {file.begin(), file.end()});
  expect_one_message(train(2, {"--data", x.string() + "," + y.string(), "--dims", "3,400"}), 1,
                     "label 300 of sample 1 is none of the model's 400 classes, of which labels name the first 256");
}

TEST_F(ShoalTrainRefusal, ALossThatIsNotFiniteIsOneErrorThatNamesTheStep) {
  for (const int ranks : {1, 4}) {
    const CommandResult result = train(ranks, {"--data", data(), "--dims", "16,7,4", "--steps", "20", "--optimizer",
                                               "sgd", "--lr", "1e30", "--progress", "none"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(own_messages(result.err),
                testing::ElementsAre(testing::ContainsRegex("step [0-9]+: the loss is not finite [(]-?(nan|inf)[)]")));
  }
}

// The loss is that before the update: of the last one only the parameters tell. Decay multiplies them by 1e40.
TEST_F(ShoalTrainRefusal, ParametersThatTheLastUpdateLeftNotFiniteAreOneErrorToo) {
  for (const int ranks : {1, 4}) {
    const CommandResult result =
        train(ranks, {"--data", data(), "--dims", "16,7,4", "--steps", "1", "--optimizer", "adamw", "--lr", "1e20",
                      "--weight-decay", "1e20", "--progress", "none"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(own_messages(result.err),
                testing::ElementsAre(HasSubstr("step 1: its update left parameters that are not finite")));
  }
}

TEST_F(ShoalTrainRefusal, AnImpossibleStageIsToldWhichThereAre) {
  for (const std::string stage : {"4", "x", "2x"})
    expect_one_message(train(1, {"--stage=" + stage}), 2, "--stage: " + stage + " not in {0,1,2,3}");
}

TEST_F(ShoalTrainRefusal, MoreRanksThanLanesAreRefusedNamingTheOption) {
  expect_one_message(train(3, small(2, {"--lanes", "2"})), 2, "--lanes 2: 3 ranks");
  EXPECT_TRUE(report_of(2, small(2, {"--lanes", "2"})).at("bytes").at("matches_prediction"));
}

TEST_F(ShoalTrainRefusal, DimsThatDoNotFitTheDataAreRefused) {
  expect_one_message(train(2, {"--data", data(), "--dims", "15,4"}), 2, "the first width is 15, but a sample of");
  expect_one_message(train(2, {"--data", data(), "--dims", "16,3"}), 1, "label 3 of sample 1 is none of the model's 3");
  expect_one_message(train(2, {"--data", data(), "--dims", "16,3", "--task", "autoencode"}), 2,
                     "--dims: autoencode ends with as many outputs");
}

TEST_F(ShoalTrainRefusal, ABadFileIsNamedOnceForAllRanks) {
  test::TemporaryFolder directory;
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

TEST_F(ShoalTrainRefusal, AReportThatCannotBeWrittenIsKnownBeforeTheTraining) {
  const auto absent = data() / "absent" / "report.json";
  expect_one_message(train(2, small(2, {"--report", absent.string()})), 1, absent.string() + ": cannot be written");
  expect_one_message(train(2, small(2, {"--report", data().string()})), 1, data().string() + ": cannot be written");
}

TEST_F(ShoalTrainRefusal, AModelThatCannotBeWrittenIsKnownBeforeTheTraining) {
  const auto absent = data() / "absent" / "model";
  const auto pipe = data() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto round = data() / "round";
  std::filesystem::create_symlink("round", round);
  for (const auto& [file, reason] :
       {std::pair(absent, "cannot be written: No such file"), std::pair(data(), "cannot be written: Is a directory"),
        std::pair(pipe, "cannot be written: it is no regular file"),
        std::pair(std::filesystem::path("/dev/null"), "cannot be written: it is no regular file"),
        std::pair(round, "cannot be written: Too many levels")})
    expect_one_message(train(2, small(2, {"--export", file.string()})), 1, file.string() + ": " + reason);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(ShoalTrainReport, AModelWrittenThroughALinkLeavesTheLink) {
  std::filesystem::create_directory(data() / "models");
  const auto link = data() / "link";
  const auto target = data() / "models" / "model";
  std::filesystem::create_symlink("models/model", link);
  for (int time = 0; time < 2; ++time) {  // The target is made, then replaced.
    report_of(2, small(2, {"--export", link.string()}));
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_GT(std::filesystem::file_size(target), 151 * 4);
    std::filesystem::resize_file(target, 0);
  }
}

TEST_F(ShoalTrainRefusal, ARunThatFailsLeavesTheReportFileAsItWas) {
  const auto report = data() / "report.json";
  const std::vector<std::string> arguments{"--data", (data() / "absent").string(), "--report", report.string()};
  expect_one_message(train(2, arguments), 1, "absent");
  EXPECT_FALSE(std::filesystem::exists(report));
  test::write_file(report, {'o', 'l', 'd'});
  expect_one_message(train(2, arguments), 1, "absent");
  EXPECT_EQ(test::read_file(report), (test::Bytes{'o', 'l', 'd'}));
}

TEST_F(ShoalTrainReport, HelpAndVersionAreAnswersGivenOnce) {
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

}  // namespace
}  // namespace shoal::train

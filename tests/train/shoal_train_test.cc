// shoal-train under shoalrun: the bytes, the bits, and what it learns.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hash/sha256.h"
#include "train/npy.h"
#include "train/shoal_train_runs.h"
#include "train/stream.h"

namespace shoal::train {
namespace {

using nlohmann::json;
using test::chunk;
using test::report_of;
using test::ShoalTrain;

// ---- Bytes ------------------------------------------------------------------------------------------------------

class ShoalTrainWorlds : public ShoalTrain, public testing::WithParamInterface<std::tuple<int, int>> {};

std::uint64_t sent_by(const json& report, int rank, const std::string& operation) {
  const json& by_op = report.at("bytes").at("per_rank").at(static_cast<std::size_t>(rank)).at("by_op");
  return by_op.at(operation).at("sent").get<std::uint64_t>();
}

TEST_P(ShoalTrainWorlds, EveryByteIsPredictedAndTheTextbooks) {
  const auto [ranks, stage] = GetParam();
  const json report = report_of(ranks, small(stage));
  const json& bytes = report.at("bytes");
  EXPECT_TRUE(bytes.at("matches_prediction"));
  EXPECT_TRUE(bytes.at("other").at("matches_prediction"));
  ASSERT_EQ(bytes.at("per_rank").size(), static_cast<std::size_t>(ranks));

  // The loss and the wish to stop, two doubles, are all-reduced every step. At stage 0 gradients are too; a run of stage 1 shows the loss alone.
  const json with_loss_apart = stage == 0 ? report_of(ranks, small(1)) : report;
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
    const std::uint64_t loss = sent_by(with_loss_apart, rank, "all_reduce");
    sent_for_loss += loss;

    std::uint64_t foreign = 0;
    std::uint64_t beyond_the_neighbours = 0;
    for (const std::uint64_t layer : kLayers) {
      foreign += layer - chunk(layer, ranks, rank);
      beyond_the_neighbours += layer - chunk(layer, ranks, (rank + 1) % ranks);
    }
    if (stage == 0) {
      EXPECT_EQ(sent_by(report, rank, "all_reduce") - loss, kSteps * 4 * (foreign + beyond_the_neighbours));
    } else {
      const std::uint64_t gathers = stage == 3 ? 2 : 1;
      EXPECT_EQ(sent_by(report, rank, "reduce_scatter"), kSteps * 4 * foreign);
      EXPECT_EQ(sent_by(report, rank, "all_gather"), gathers * kSteps * 4 * beyond_the_neighbours);
      EXPECT_EQ(of_rank.at("by_op").at("all_gather").at("calls"), gathers * kSteps * 2);
    }
  }
  EXPECT_EQ(sent, received);
  // Each half moves (P-1)/P of the parameters' bytes a rank.
  const auto others = static_cast<std::uint64_t>(ranks - 1);
  const std::uint64_t halves = stage == 3 ? 3 : 2;
  EXPECT_EQ(sent, halves * kSteps * others * 4 * (119 + 32) + sent_for_loss);
  // Those doubles: each other rank's have to get to every rank somehow.
  EXPECT_GE(sent_for_loss, kSteps * 16 * others);
  EXPECT_LE(sent_for_loss, kSteps * 16 * others * static_cast<std::uint64_t>(ranks));
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
  test::TemporaryFolder directory;
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

// Whatever is learnt with, and however: one run per world and stage, that of one rank and stage 0.
class ShoalTrainLearning : public ShoalTrain, public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(ShoalTrainLearning, GivesTheSameBitsInEveryPowerOfTwoOfRanksAndAtEveryStage) {
  const std::vector<std::string>& options = GetParam();
  const json expected = report_of(1, small(0, options));
  for (const int ranks : {2, 4, 8, 16}) {
    for (int stage = 0; stage <= 3; ++stage) {
      const json report = report_of(ranks, small(stage, options));
      expect_same_run(report, expected);
      EXPECT_TRUE(report.at("bytes").at("matches_prediction"));
      EXPECT_TRUE(report.at("bytes").at("other").at("matches_prediction"));
      for (const json& rank : report.at("memory").at("per_rank"))
        for (const char* key : {"parameter_bytes", "gradient_bytes", "optimizer_bytes"})
          EXPECT_EQ(rank.at(key), rank.at("formula").at(key)) << key;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, ShoalTrainLearning,
    testing::Values(std::vector<std::string>{"--optimizer", "momentum", "--schedule", "cosine", "--warmup", "3"},
                    std::vector<std::string>{"--optimizer", "adamw", "--weight-decay", "0.1", "--schedule", "linear"},
                    std::vector<std::string>{"--clip", "0.05", "--accumulate", "3"},
                    std::vector<std::string>{"--max-padded-tokens", "2", "--accumulate", "2"},
                    std::vector<std::string>{"--precision", "bf16", "--clip", "0.05"},
                    std::vector<std::string>{"--precision", "bf16", "--accumulate", "2", "--optimizer", "sgd"}));

// An epoch of 40 samples is microbatches of 12, 12, 12 and 4: windows of 3 are 36 samples and then 4.
TEST_F(ShoalTrain, TheLastShortWindowOfAnEpochIsAnUpdateToo) {
  const json report = report_of(
      2, {"--data", data(), "--dims", "16,7,4", "--batch", "12", "--accumulate", "3", "--epochs", "2", "--stage", "1"});
  EXPECT_EQ(report.at("steps"), 4);
  const json& by_op = report.at("bytes").at("per_rank").at(0).at("by_op");
  EXPECT_EQ(by_op.at("reduce_scatter").at("calls"), 2 * 2 * 4);  // Two layers, two epochs, four microbatches.
  EXPECT_EQ(by_op.at("all_gather").at("calls"), 2 * 4);
}

/// Images of 4 x 4 whose rows are blank here and there: from 0 to 4 of them are not.
void write_ragged(const std::filesystem::path& directory, std::uint32_t count) {
  test::Bytes images = test::idx_images(count, 4, 4);
  for (std::uint32_t image = 0; image < count; ++image)
    for (std::uint32_t row = 0; row < 4; ++row)
      if (image * 7 % (row + 2) == 0)
        std::fill_n(images.end() - static_cast<std::ptrdiff_t>((count - image) * 16 - row * 4), 4, std::uint8_t{0});
  test::write_file(directory / "train-images-idx3-ubyte", images);
  test::write_file(directory / "t10k-images-idx3-ubyte", test::idx_images(5, 4, 4));
}

std::vector<std::string> next_row(const std::filesystem::path& data, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"--data", data.string(), "--task", "next-row", "--dims", "4,6,4"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_F(ShoalTrain, NextRowGivesTheSameBitsWhateverTheRoundsWorldAndStage) {
  test::TemporaryFolder ragged;
  write_ragged(ragged.path(), 50);
  const auto arguments = [&](int stage) {
    return next_row(ragged.path(), {"--steps", "9", "--batch", "20", "--lanes", "8", "--max-padded-tokens", "4",
                                    "--max-examples", "2", "--accumulate", "2", "--stage", std::to_string(stage)});
  };
  const json expected = report_of(1, arguments(0));
  EXPECT_TRUE(expected.at("accuracy").at("train").is_null());
  for (const int ranks : {1, 2, 4, 8}) {
    for (int stage = 0; stage <= 3; ++stage) {
      const json report = report_of(ranks, arguments(stage));
      expect_same_run(report, expected);
      EXPECT_TRUE(report.at("bytes").at("matches_prediction"));
      EXPECT_TRUE(report.at("bytes").at("other").at("matches_prediction"));
    }
  }
  // More rounds than microbatches: what a lane has is cut.
  const auto reductions = report_of(2, arguments(2)).at("bytes").at("per_rank").at(0).at("by_op").at("reduce_scatter");
  EXPECT_GT(reductions.at("calls").get<int>(), 2 * 9 * 2);
}

// The mean of one step over all predicted rows by a plain loop, with a model that always says 0: its first loss is the mean
// square of the rows to come, whatever the lanes, limits and ranks.
TEST_F(ShoalTrain, NextRowsLossIsTheMeanOverAllPredictedRows) {
  test::TemporaryFolder ragged;
  write_ragged(ragged.path(), 30);
  const test::Bytes file = test::read_file(ragged.path() / "train-images-idx3-ubyte");
  double sum = 0.0;
  int predicted = 0;
  for (std::size_t image = 0; image < 30; ++image) {
    bool follows = false;
    for (std::size_t row = 0; row < 4; ++row) {
      const auto pixels = std::span(file).subspan(16 + image * 16 + row * 4, 4);
      if (std::all_of(pixels.begin(), pixels.end(), [](std::uint8_t pixel) { return pixel == 0; })) continue;
      if (follows) {
        for (const std::uint8_t pixel : pixels) sum += pixel / 255.0 * (pixel / 255.0);
        ++predicted;
      }
      follows = true;
    }
  }
  ASSERT_GT(predicted, 30);
  const auto zeros = ragged.path() / "zeros.npy";
  write_npy(zeros, std::array<std::size_t, 1>{58}, std::vector<float>(58));
  for (const auto& [ranks, lanes, limit] :
       {std::tuple{1, "1", "100"}, std::tuple{1, "16", "3"}, std::tuple{2, "2", "6"}, std::tuple{4, "16", "100"},
        std::tuple{3, "4", "1"}}) {
    const json report = report_of(ranks, next_row(ragged.path(), {"--steps", "1", "--batch", "30", "--lanes", lanes,
                                                                  "--max-padded-tokens", limit, "--init", zeros}));
    EXPECT_NEAR(report.at("loss").at("first").get<double>(), sum / (4.0 * predicted), 1e-7);
  }
}

TEST_F(ShoalTrain, ArraysOfNumpyAreADataSetToo) {
  // The images of the small set, as an array: the same run but for the test set, which an array has not.
  const test::Bytes images = test::read_file(data() / "train-images-idx3-ubyte");
  const test::Bytes labels = test::read_file(data() / "train-labels-idx1-ubyte");
  const auto write = [&](const std::string& name, const std::string& shape, std::span<const std::uint8_t> bytes) {
    std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }\n";
    std::string file("\x93NUMPY\x01\0", 8);
    file += static_cast<char>(text.size());
    file += '\0';
    file += text;
    file.append(bytes.begin(), bytes.end());
    return test::write_file(data() / name, {file.begin(), file.end()}).string();
  };
  const std::string x = write("x.npy", "40, 4, 4", std::span(images).subspan(16));
  const std::string y = write("y.npy", "40,", std::span(labels).subspan(8));
  const auto arguments = [](const std::string& source) {
    return std::vector<std::string>{"--data", source, "--dims", "16,7,4", "--batch", "12", "--steps", "9"};
  };
  const json expected = report_of(2, arguments(data().string()));
  const json report = report_of(2, arguments(x + "," + y));
  for (const char* key : {"param_sha256", "stream_sha256", "loss"}) EXPECT_EQ(report.at(key), expected.at(key));
  EXPECT_EQ(report.at("accuracy").at("train"), expected.at("accuracy").at("train"));
  EXPECT_TRUE(report.at("accuracy").at("test").is_null());
  EXPECT_TRUE(report.at("bytes").at("other").at("matches_prediction"));
}

TEST_F(ShoalTrain, ClippingChangesTheRunAndALargeBoundDoesNot) {
  const json free = report_of(2, small(2));
  EXPECT_EQ(report_of(2, small(2, {"--clip", "1e30"})).at("param_sha256"), free.at("param_sha256"));
  EXPECT_NE(report_of(2, small(2, {"--clip", "1e-3", "--optimizer", "sgd"})).at("param_sha256"),
            report_of(2, small(2, {"--optimizer", "sgd"})).at("param_sha256"));
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

// shoal-train under shoalrun: the bytes, the bits, and what it learns.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "train/sha256.h"
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

  // The loss, a double, is all-reduced every step. At stage 0 gradients are too; a run of stage 1 shows the loss alone.
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
  // The doubles of the loss: each other rank's has to get to every rank somehow.
  EXPECT_GE(sent_for_loss, kSteps * 8 * others);
  EXPECT_LE(sent_for_loss, kSteps * 8 * others * static_cast<std::uint64_t>(ranks));
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

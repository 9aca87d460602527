// shoal-train --phase: the benchmark that the plan describes, with the plan's samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hash/sha256.h"
#include "plan/phases.h"
#include "train/shoal_train_runs.h"

namespace shoal::train {
namespace {

using nlohmann::json;
using test::report_of;
using test::train;
using testing::HasSubstr;

/// As many small images as a phase reads.
class ShoalTrainPhase : public testing::Test {
 protected:
  void SetUp() override { test::write_quarters(folder_.path(), 13312, 4); }

  std::vector<std::string> arguments(const std::string& phase, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"--data", folder_.path().string(), "--dims", "16,7,4", "--phase", phase};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(ShoalTrainPhase, StrongTakesTheSamplesOfTheSeedInAnyWorld) {
  for (const int ranks : {1, 3, 8}) {
    const json report = report_of(ranks, arguments("strong"));
    // strong_union_sha256 of the seed's check_plan.
    EXPECT_EQ(report.at("stream_sha256"), "bb5cecec2771d74cd91692688992e4df636bba1d7196ed4bb0e9ec929d81d6c9");
    EXPECT_EQ(report.at("phase"),
              (json{{"name", "strong"}, {"offset", 0}, {"global_batch", 256}, {"updates", 40}, {"warmup", 10}}));
    EXPECT_EQ(report.at("steps"), 40);
    EXPECT_EQ(report.at("global_batch"), 256);
    EXPECT_EQ(report.at("lanes"), ranks == 3 ? 18 : 16);  // Each rank has as many.
    EXPECT_TRUE(report.at("bytes").at("matches_prediction"));
    EXPECT_TRUE(report.at("bytes").at("other").at("matches_prediction"));
    // 30 updates of 256 samples are timed.
    const json& time = report.at("time");
    EXPECT_NEAR(time.at("samples_per_s").get<double>() / time.at("steps_per_s").get<double>(), 256.0, 1e-6);
    EXPECT_LT(30.0 / time.at("steps_per_s").get<double>(), time.at("wall_s").get<double>());
  }
}

TEST_F(ShoalTrainPhase, WeakPresentsThirtyTwoSamplesToEachRank) {
  for (const int ranks : {2, 5, 16}) {
    const auto world = static_cast<std::uint64_t>(ranks);
    std::vector<std::int64_t> ids;
    for (std::int64_t step = 0; step < 12; ++step)
      for (std::int64_t i = 0; i < 32; ++i)
        for (std::int64_t rank = 0; rank < ranks; ++rank) ids.push_back(10240 + step * 256 + rank % 8 + i * 8);
    Sha256 hash;
    hash.add(std::as_bytes(std::span(ids)));
    const json report = report_of(ranks, arguments("weak", {"--stage", "3"}));
    EXPECT_EQ(report.at("stream_sha256"), hash.finish());
    EXPECT_EQ(report.at("global_batch"), world * 32);
    EXPECT_EQ(report.at("steps"), 12);
    EXPECT_EQ(report.at("phase").at("replicated_base_world"), 8);
    EXPECT_EQ(report.at("phase").at("warmup"), 4);
    EXPECT_TRUE(report.at("bytes").at("matches_prediction"));
  }
}

TEST_F(ShoalTrainPhase, StrongHasTheSameBitsInEveryPowerOfTwoOfRanks) {
  const json expected = report_of(1, arguments("strong", {"--stage", "0"}));
  EXPECT_EQ(report_of(4, arguments("strong", {"--stage", "2"})).at("param_sha256"), expected.at("param_sha256"));
  EXPECT_EQ(report_of(16, arguments("strong", {"--stage", "3"})).at("param_sha256"), expected.at("param_sha256"));
}

TEST_F(ShoalTrainPhase, AnotherRunHasNone) {
  EXPECT_TRUE(report_of(1, {"--data", arguments("")[1], "--dims", "16,4", "--steps", "1"}).at("phase").is_null());
}

TEST_F(ShoalTrainPhase, DataThatEndWithinThePhaseAreRefused) {
  test::TemporaryFolder folder;
  test::write_quarters(folder.path(), 10239, 4);
  for (const int ranks : {1, 2}) {
    const auto result =
        train(ranks, {"--data", folder.path().string(), "--dims", "16,7,4", "--phase", "strong", "--progress", "none"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("--phase strong: takes samples up to number 10240, but "));
  }
}

}  // namespace
}  // namespace shoal::train

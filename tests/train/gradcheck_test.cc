// Loss and gradient against reference values computed elsewhere, with another implementation.
#include "train/gradcheck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/run_ranks.h"
#include "train/files.h"
#include "train/input_error.h"
#include "train/npy.h"

namespace shoal::train {
namespace {

GradcheckOptions options_of(const std::filesystem::path& directory, std::vector<std::size_t> dims) {
  return {.dims = std::move(dims),
          .theta = directory / "theta.npy",
          .x = directory / "x.npy",
          .y = directory / "y.npy",
          .out = std::nullopt};
}

class GoldenMlp : public testing::TestWithParam<std::string> {};

TEST_P(GoldenMlp, LossAndGradientAreTheReferences) {
  const auto directory = std::filesystem::path(TRAIN_GOLDEN) / GetParam();
  const auto golden = nlohmann::json::parse(std::ifstream(directory / "case.json"));
  test::TemporaryFolder temporary;
  GradcheckOptions options = options_of(directory, golden.at("dims"));
  options.out = temporary.path() / "gradient.npy";

  const auto ranks = run_ranks(1, [&](Communicator& comm) {
    const auto result = nlohmann::json::parse(run_gradcheck(comm, options));
    const double loss = golden.at("loss");
    EXPECT_NEAR(result.at("loss").get<double>(), loss, 1e-5 * loss);
    EXPECT_GE(result.at("checked").get<int>(), std::min(66, golden.at("parameters").get<int>()));

    const NpyArray expected = read_npy(directory / "grad.npy");
    const NpyArray gradient = read_npy(*options.out);
    ASSERT_EQ(gradient.shape, expected.shape);
    float largest = 0.0F;
    for (const float value : expected.values) largest = std::max(largest, std::abs(value));
    EXPECT_LE(result.at("max_difference").get<double>(), 1e-5 * static_cast<double>(largest));
    for (std::size_t i = 0; i < expected.values.size(); ++i)
      ASSERT_NEAR(gradient.values[i], expected.values[i], 1e-5F * largest) << i;
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenMlp, testing::Values("mlp-5-7-3-batch1", "mlp-64-128-128-64", "mlp-linear-4-2"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ReferenceLoss, IsTheMeanOverRowsAndOutputs) {
  const std::array<std::size_t, 3> dims{1, 2, 1};
  const Layout layout(dims);
  const std::array<double, 7> parameters{2.0, -1.0, 0.5, 0.0, 3.0, 5.0, -1.0};  // W0, b0, W1, b1.
  const std::array<float, 2> x{1.0F, -2.0F};
  const std::array<float, 2> y{6.0F, 12.0F};
  // x = 1: hidden 2.5 and max(-1, 0), output 6.5; x = -2: hidden max(-3.5, 0) and 2, output 9.
  EXPECT_DOUBLE_EQ(reference_loss(layout, parameters, x, y), (0.25 + 9.0) / 2);
}

TEST(Gradcheck, FilesThatDoNotFitAreNamed) {
  const auto directory = std::filesystem::path(TRAIN_GOLDEN) / "mlp-linear-4-2";
  const auto refusal = [&](const GradcheckOptions& options) {
    const auto ranks = run_ranks(1, [&](Communicator& comm) { run_gradcheck(comm, options); });
    return ranks.launch().ranks.at(0).error;
  };
  EXPECT_THAT(refusal(options_of(directory, {4, 3})),
              testing::HasSubstr("theta.npy: has shape (10) where (15) is needed"));
  EXPECT_THAT(refusal(options_of(directory, {1, 5})), testing::HasSubstr("x.npy: has shape (6, 4) where (6, 1)"));
  GradcheckOptions swapped = options_of(directory, {4, 2});
  swapped.y = swapped.x;
  EXPECT_THAT(refusal(swapped), testing::HasSubstr("x.npy: has shape (6, 4) where (6, 2)"));
}

}  // namespace
}  // namespace shoal::train

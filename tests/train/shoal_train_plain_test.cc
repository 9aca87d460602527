// shoal-train beside a trainer in plain serial loops of double precision, from the same start with the same samples: whatever
// schedule, optimizer, decay, clipping and precision there is, the two must go the same way.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "train/npy.h"
#include "train/shoal_train_runs.h"
#include "train/stream.h"

namespace shoal::train {
namespace {

using nlohmann::json;
using test::report_of;

using Row = std::vector<double>;

/// One batch: rows of inputs, and what is to be made of each: a class, or values.
struct Batch {
  std::vector<Row> inputs;
  std::vector<Row> targets;
  std::vector<std::size_t> labels;
};

struct Plain {
  std::vector<std::size_t> dims{};
  bool classifies = false;
  std::string optimizer = "sgd";
  std::string schedule = "constant";
  double learning_rate = 0.0;
  std::size_t warmup = 0;
  double weight_decay = 0.0;
  double clip = 0.0;  // None.
  bool bf16 = false;
  std::size_t steps = 0;
};

/// To the nearest bf16, ties to even.
double as_bf16(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>((bits + 0x7fffU + ((bits >> 16U) & 1U)) & 0xffff0000U);
}

class PlainTrainer {
 public:
  PlainTrainer(Plain plain, const std::vector<float>& start)
      : plain_(std::move(plain)),
        parameters_(start.begin(), start.end()),
        first_(start.size()),
        second_(start.size()) {}

  /// One update with the mean of the batch; a batch without rows is none. Returns the loss before it.
  double step(const Batch& batch) {
    if (batch.inputs.empty()) return 0.0;
    Row gradient(parameters_.size());
    working_ = parameters_;
    if (plain_.bf16)
      for (double& value : working_) value = as_bf16(value);
    double loss = 0.0;
    for (std::size_t row = 0; row < batch.inputs.size(); ++row) loss += add_row(batch, row, gradient);
    const double weight =
        static_cast<double>(batch.inputs.size()) * (plain_.classifies ? 1.0 : static_cast<double>(plain_.dims.back()));
    for (double& value : gradient) value /= weight;
    update(gradient);
    return loss / weight;
  }

  const Row& parameters() const { return parameters_; }

 private:
  /// Forward, loss and backward of one row, by the book.
  double add_row(const Batch& batch, std::size_t row, Row& gradient) const {
    const auto& dims = plain_.dims;
    std::vector<Row> values{batch.inputs[row]};
    std::vector<std::size_t> offsets;
    std::size_t offset = 0;
    for (std::size_t layer = 0; layer + 1 < dims.size(); ++layer) {
      offsets.push_back(offset);
      Row next(dims[layer + 1]);
      for (std::size_t j = 0; j < next.size(); ++j) {
        next[j] = working_[offset + dims[layer] * dims[layer + 1] + j];
        for (std::size_t i = 0; i < dims[layer]; ++i)
          next[j] += values[layer][i] * working_[offset + i * dims[layer + 1] + j];
        if (layer + 2 < dims.size()) next[j] = std::max(next[j], 0.0);
      }
      values.push_back(next);
      offset += (dims[layer] + 1) * dims[layer + 1];
    }
    const Row& outputs = values.back();
    Row slopes(outputs.size());
    double loss = 0.0;
    if (plain_.classifies) {
      double total = 0.0;
      for (const double output : outputs) total += std::exp(output);
      loss = std::log(total) - outputs[batch.labels[row]];
      for (std::size_t j = 0; j < outputs.size(); ++j)
        slopes[j] = std::exp(outputs[j]) / total - (j == batch.labels[row] ? 1.0 : 0.0);
    } else {
      for (std::size_t j = 0; j < outputs.size(); ++j) {
        const double error = outputs[j] - batch.targets[row][j];
        loss += error * error;
        slopes[j] = 2.0 * error;
      }
    }
    for (std::size_t layer = dims.size() - 1; layer-- > 0;) {
      Row below(dims[layer]);
      for (std::size_t i = 0; i < dims[layer]; ++i) {
        for (std::size_t j = 0; j < dims[layer + 1]; ++j) {
          gradient[offsets[layer] + i * dims[layer + 1] + j] += values[layer][i] * slopes[j];
          below[i] += working_[offsets[layer] + i * dims[layer + 1] + j] * slopes[j];
        }
        if (values[layer][i] <= 0.0) below[i] = 0.0;
      }
      for (std::size_t j = 0; j < dims[layer + 1]; ++j)
        gradient[offsets[layer] + dims[layer] * dims[layer + 1] + j] += slopes[j];
      slopes = below;
    }
    return loss;
  }

  double rate() const {
    const auto update = static_cast<double>(updates_);
    const auto warmup = static_cast<double>(plain_.warmup);
    if (updates_ < plain_.warmup) return plain_.learning_rate * (update + 1.0) / warmup;
    const double done = (update - warmup) / (static_cast<double>(plain_.steps) - warmup);
    if (plain_.schedule == "linear") return plain_.learning_rate * (1.0 - done);
    if (plain_.schedule == "cosine") return plain_.learning_rate * (1.0 + std::cos(std::numbers::pi * done)) / 2.0;
    return plain_.learning_rate;
  }

  void update(Row& gradient) {
    double squares = 0.0;
    for (const double value : gradient) squares += value * value;
    const double norm = std::sqrt(squares);
    if (plain_.clip > 0.0 && norm > plain_.clip)
      for (double& value : gradient) value *= plain_.clip / norm;
    const double rate = this->rate();
    ++updates_;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      double& parameter = parameters_[i];
      if (plain_.optimizer == "adamw")
        parameter -= rate * plain_.weight_decay * parameter;
      else
        gradient[i] += plain_.weight_decay * parameter;
      if (plain_.optimizer == "sgd") {
        parameter -= rate * gradient[i];
      } else if (plain_.optimizer == "momentum") {
        first_[i] = 0.9 * first_[i] + gradient[i];
        parameter -= rate * first_[i];
      } else {
        first_[i] = 0.9 * first_[i] + 0.1 * gradient[i];
        second_[i] = 0.999 * second_[i] + 0.001 * gradient[i] * gradient[i];
        const double mean = first_[i] / (1.0 - std::pow(0.9, updates_));
        const double square = second_[i] / (1.0 - std::pow(0.999, updates_));
        parameter -= rate * mean / (std::sqrt(square) + 1e-8);
      }
    }
  }

  Plain plain_;
  Row parameters_;
  Row working_;
  Row first_;
  Row second_;
  std::size_t updates_ = 0;
};

struct Case {
  std::string task;
  Plain plain;
  std::vector<std::string> options;
};

class ShoalTrainPlain : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::size_t kSamples = 40;

  void SetUp() override {
    test::write_quarters(folder_.path(), kSamples, 4);
    auto images = test::read_file(folder_.path() / "train-images-idx3-ubyte");
    // Rows that are blank: in every third image the second, and all of image 7 but one.
    for (std::size_t image = 0; image < kSamples; ++image)
      for (std::size_t row = 0; row < 4; ++row)
        if ((image % 3 == 0 && row == 1) || (image == 7 && row != 2))
          std::fill_n(images.begin() + static_cast<std::ptrdiff_t>(16 + image * 16 + row * 4), 4, std::uint8_t{0});
    test::write_file(folder_.path() / "train-images-idx3-ubyte", images);
    pixels_.assign(images.begin() + 16, images.end());
    const auto labels = test::read_file(folder_.path() / "train-labels-idx1-ubyte");
    labels_.assign(labels.begin() + 8, labels.end());
  }

  Row pixels(std::size_t first, std::size_t count) const {
    Row row;
    for (std::size_t i = 0; i < count; ++i) row.push_back(pixels_[first + i] / 255.0);
    return row;
  }

  Batch batch_of(const std::string& task, std::span<const std::int64_t> ids) const {
    Batch batch;
    for (const std::int64_t id : ids) {
      const auto image = static_cast<std::size_t>(id);
      if (task != "next-row") {
        batch.inputs.push_back(pixels(image * 16, 16));
        batch.targets.push_back(batch.inputs.back());
        batch.labels.push_back(labels_[image]);
        continue;
      }
      std::vector<Row> rows;
      for (std::size_t row = 0; row < 4; ++row) {
        const Row values = pixels(image * 16 + row * 4, 4);
        if (std::any_of(values.begin(), values.end(), [](double value) { return value != 0.0; }))
          rows.push_back(values);
      }
      for (std::size_t row = 0; row + 1 < rows.size(); ++row) {
        batch.inputs.push_back(rows[row]);
        batch.targets.push_back(rows[row + 1]);
      }
    }
    return batch;
  }

  const test::TemporaryFolder& folder() const { return folder_; }

 private:
  test::TemporaryFolder folder_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> labels_;
};

TEST_P(ShoalTrainPlain, GoesTheSameWay) {
  const Case& one = GetParam();
  Plain plain = one.plain;
  plain.classifies = one.task == "classify";
  const std::size_t width = one.task == "next-row" ? 4 : 16;
  plain.dims = {width, 7, 5, plain.classifies ? 4 : width};
  plain.steps = 15;
  std::string dims;
  std::size_t count = 0;
  for (std::size_t i = 0; i < plain.dims.size(); ++i) {
    dims += (i > 0 ? "," : "") + std::to_string(plain.dims[i]);
    if (i > 0) count += (plain.dims[i - 1] + 1) * plain.dims[i];
  }
  std::vector<float> start;
  for (std::size_t i = 0; i < count; ++i)
    start.push_back(static_cast<float>(static_cast<int>(i * 37 % 101) - 45) / 120.0F);
  write_npy(folder().path() / "start.npy", std::array<std::size_t, 1>{count}, start);

  std::vector<std::string> arguments{"--data",       folder().path().string(),
                                     "--task",       one.task,
                                     "--dims",       dims,
                                     "--batch",      "6",
                                     "--accumulate", "2",
                                     "--steps",      "15",
                                     "--seed",       "9",
                                     "--init",       (folder().path() / "start.npy").string(),
                                     "--export",     (folder().path() / "model").string()};
  arguments.insert(arguments.end(), one.options.begin(), one.options.end());
  const json report = report_of(3, arguments);

  PlainTrainer trainer(plain, start);
  std::vector<std::int64_t> order;
  std::uint32_t epoch = 0;
  const double tolerance = plain.bf16 ? 2e-2 : 2e-4;  // A sum on the other side of a half rounds to another bf16.
  for (std::size_t step = 0; step < plain.steps; ++step) {
    if (order.empty()) order = epoch_order(9, epoch++, kSamples);
    const auto size = static_cast<std::ptrdiff_t>(std::min<std::size_t>(12, order.size()));
    const std::vector<std::int64_t> ids(order.begin(), order.begin() + size);
    order.erase(order.begin(), order.begin() + size);
    const double loss = trainer.step(batch_of(one.task, ids));
    EXPECT_NEAR(report.at("loss").at("curve").at(step).at(1).get<double>(), loss, tolerance * std::max(loss, 0.1))
        << "step " << step + 1;
  }
  const auto model = test::read_file(folder().path() / "model");
  std::vector<float> trained(count);
  ASSERT_GT(model.size(), count * 4);
  std::memcpy(trained.data(), model.data() + model.size() - count * 4, count * 4);
  double moved = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_NEAR(trained[i], trainer.parameters()[i], plain.bf16 ? 2e-2 : 1e-3) << i;
    moved = std::max(moved, std::abs(static_cast<double>(trained[i]) - static_cast<double>(start[i])));
  }
  EXPECT_GT(moved, 0.02);  // Not by standing still.
}

INSTANTIATE_TEST_SUITE_P(
    Ways, ShoalTrainPlain,
    testing::Values(
        Case{"classify", {.learning_rate = 0.2}, {"--optimizer", "sgd", "--lr", "0.2"}},
        Case{"classify",
             {.optimizer = "momentum", .schedule = "linear", .learning_rate = 0.1, .warmup = 4, .weight_decay = 0.05},
             {"--optimizer", "momentum", "--schedule", "linear", "--lr", "0.1", "--warmup", "4", "--weight-decay",
              "0.05"}},
        Case{"classify",
             {.optimizer = "adam", .schedule = "cosine", .learning_rate = 0.01, .warmup = 3, .weight_decay = 0.1},
             {"--schedule", "cosine", "--lr", "0.01", "--warmup", "3", "--weight-decay", "0.1"}},
        Case{"classify",
             {.optimizer = "adamw", .schedule = "cosine", .learning_rate = 0.01, .weight_decay = 0.5},
             {"--optimizer", "adamw", "--schedule", "cosine", "--lr", "0.01", "--weight-decay", "0.5"}},
        Case{"classify",
             {.optimizer = "sgd", .learning_rate = 0.5, .clip = 0.2},
             {"--optimizer", "sgd", "--lr", "0.5", "--clip", "0.2"}},
        Case{"classify",
             {.optimizer = "sgd", .schedule = "linear", .learning_rate = 0.2, .bf16 = true},
             {"--optimizer", "sgd", "--schedule", "linear", "--lr", "0.2", "--precision", "bf16"}},
        Case{"autoencode",
             {.optimizer = "momentum", .schedule = "cosine", .learning_rate = 0.1, .clip = 0.3},
             {"--optimizer", "momentum", "--schedule", "cosine", "--lr", "0.1", "--clip", "0.3"}},
        Case{"next-row",
             {.optimizer = "adamw",
              .schedule = "linear",
              .learning_rate = 0.02,
              .warmup = 5,
              .weight_decay = 0.2,
              .clip = 0.5},
             {"--optimizer", "adamw", "--schedule", "linear", "--lr", "0.02", "--warmup", "5", "--weight-decay", "0.2",
              "--clip", "0.5", "--max-padded-tokens", "4"}}));

// Images that are all blank have no rows to predict: no step weighs anything, whatever there is to move parameters by.
TEST(ShoalTrainWithoutWeight, NothingIsLearntAndTheScheduleStands) {
  test::TemporaryFolder folder;
  auto images = test::idx_images(20, 4, 4);
  std::fill(images.begin() + 16, images.end(), std::uint8_t{0});
  test::write_file(folder.path() / "train-images-idx3-ubyte", images);
  test::write_file(folder.path() / "t10k-images-idx3-ubyte", test::idx_images(4, 4, 4));
  const std::vector<std::string> arguments{
      "--data", folder.path().string(), "--task", "next-row", "--dims", "4,6,4", "--batch", "8"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), arguments.begin(), arguments.end());
    return more;
  };
  for (const int ranks : {1, 3}) {
    for (int stage = 0; stage <= 3; ++stage) {
      const json untouched = report_of(ranks, with({"--steps", "1", "--lr", "0", "--stage", std::to_string(stage)}));
      const auto checkpoints = (folder.path() / ("of" + std::to_string(ranks) + std::to_string(stage))).string();
      const json report = report_of(
          ranks, with({"--steps", "7", "--lr", "0.1", "--optimizer", "adamw", "--weight-decay", "0.5", "--clip", "1",
                       "--schedule", "linear", "--stage", std::to_string(stage), "--checkpoint", checkpoints}));
      EXPECT_EQ(report.at("param_sha256"), untouched.at("param_sha256"));
      EXPECT_EQ(report.at("loss").at("last"), 0.0);
      EXPECT_TRUE(report.at("bytes").at("matches_prediction"));
      const json manifest =
          json::parse(test::read_file(std::filesystem::path(checkpoints) / "step-000000000007" / "manifest.json"));
      EXPECT_EQ(manifest.at("run").at("updates"), 0);
    }
  }
}

}  // namespace
}  // namespace shoal::train

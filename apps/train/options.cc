// The command line. What can be judged without data and without other ranks is judged here.

#include "train/options.h"

#include <CLI/CLI.hpp>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "program/program.h"
#include "train/dataset.h"

namespace shoal::train {
namespace {

constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 40U;
constexpr std::size_t kMostLanes = 65536;
constexpr std::uint64_t kMostParameters = std::uint64_t{1} << 40U;

/// A positive whole number, all of `text`.
std::optional<std::uint64_t> positive(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

/// Texts of options, as CLI11 collects them.
struct RawOptions {
  std::string task = "classify";
  std::optional<std::string> dims;
  std::string stage = "2";
  std::string optimizer = "adam";
  std::optional<double> learning_rate;
  std::string algorithm = "auto";
  std::optional<std::string> steps;
  std::optional<std::string> epochs;
  std::optional<std::string> batch;
  std::optional<std::string> lanes;
  std::optional<std::string> seed;
};

std::uint64_t count_option(const std::string& option, const std::string& text) {
  const auto value = positive(text);
  if (!value || *value > kMostCounted) throw UsageError(option + " " + text + ": not a whole number from 1 to 2^40");
  return *value;
}

std::uint64_t seed_option(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw UsageError("--seed " + text + ": not a whole number from 0 to 2^64 - 1");
  return value;
}

void fill(TrainOptions& options, const RawOptions& raw) {
  options.task = raw.task == "classify" ? Task::classify : Task::autoencode;
  if (raw.dims)
    options.dims = parse_dims(*raw.dims);
  else if (options.task == Task::classify)
    options.dims = {784, 256, 128, 10};
  else
    options.dims = {784, 128, 32, 128, 784};

  options.stage = raw.stage.front() - '0';
  options.optimizer.kind = raw.optimizer == "adam" ? OptimizerKind::adam : OptimizerKind::sgd;
  const double learning_rate = raw.learning_rate.value_or(raw.optimizer == "adam" ? 0.001 : 0.05);
  if (!std::isfinite(learning_rate) || learning_rate < 0.0)
    throw UsageError("--lr: a learning rate is a finite number, 0 or more");
  options.optimizer.learning_rate = static_cast<float>(learning_rate);

  if (raw.algorithm != "auto") {
    const auto algorithm = algorithm_named(raw.algorithm);
    if (!algorithm || *algorithm == Algorithm::automatic)
      throw UsageError("--algorithm " + raw.algorithm + ": no such algorithm");
    options.algorithm = *algorithm;
  }

  if (raw.steps) options.steps = count_option("--steps", *raw.steps);
  if (raw.epochs) options.epochs = count_option("--epochs", *raw.epochs);
  if (raw.batch) options.batch = count_option("--batch", *raw.batch);
  if (raw.seed) options.seed = seed_option(*raw.seed);
  if (raw.lanes) options.lanes = count_option("--lanes", *raw.lanes);
  if (!std::has_single_bit(options.lanes) || options.lanes > kMostLanes)
    throw UsageError("--lanes " + std::to_string(options.lanes) + ": a power of two up to " +
                     std::to_string(kMostLanes) + " is needed");
}

void add_train_options(CLI::App& app, TrainOptions& options, RawOptions& raw) {
  app.add_option("--data", options.data, "Directory of the IDX files, plain or gzip")->capture_default_str();
  app.add_option("--task", raw.task, "classify (softmax cross-entropy) or autoencode (MSE)")
      ->check(CLI::IsMember({"classify", "autoencode"}))
      ->capture_default_str();
  app.add_option("--dims", raw.dims, "Widths of the MLP (classify 784,256,128,10; autoencode 784,128,32,128,784)");
  app.add_option("--stage", raw.stage, "What is sharded: 0 nothing, 1 optimizer, 2 and gradients, 3 and parameters")
      ->check(CLI::IsMember({"0", "1", "2", "3"}))
      ->capture_default_str();
  app.add_option("--optimizer", raw.optimizer, "sgd or adam")
      ->check(CLI::IsMember({"sgd", "adam"}))
      ->capture_default_str();
  app.add_option("--lr", raw.learning_rate, "Learning rate (adam 0.001, sgd 0.05)");
  app.add_option("--batch", raw.batch, "Samples of a step, over all ranks (256)");
  auto* steps = app.add_option("--steps", raw.steps, "Updates to make");
  app.add_option("--epochs", raw.epochs, "Passes over the training samples to make (1)")->excludes(steps);
  app.add_option("--seed", raw.seed, "Of the start and of the order of samples (0)");
  app.add_option("--lanes", raw.lanes, "Shares of a batch, a power of two; at most so many ranks (16)");
  app.add_option("--algorithm", raw.algorithm, "Of the collectives that carry gradients and parameters")
      ->capture_default_str();
  app.add_option("--report", options.report, "Write the report, JSON, to this file, or - for standard output");
  app.add_option("--progress", options.progress, "auto, plain (a line now and then) or none")
      ->check(CLI::IsMember({"auto", "plain", "none"}))
      ->capture_default_str();
}

}  // namespace

std::vector<std::size_t> parse_dims(const std::string& text) {
  const auto refuse = [&](const std::string& reason) -> UsageError {
    return UsageError("--dims " + text + ": " + reason);
  };
  std::vector<std::size_t> dims;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const auto width = positive(text.substr(start, comma - start));
    if (!width || *width > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
      throw refuse("'" + text.substr(start, comma - start) +
                   "' is no width; it takes positive numbers, as in 784,256,10");
    dims.push_back(*width);
    start = comma + 1;
  }
  if (dims.size() < 2) throw refuse("a model has at least two widths, its inputs and its outputs");
  std::size_t parameters = 0;
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) {
    const std::size_t layer = dims[i] * dims[i + 1] + dims[i + 1];  // Below 2^63: widths are below 2^31.
    if (layer > kMostParameters - parameters) throw refuse("too many parameters");
    parameters += layer;
  }
  return dims;
}

CommandLine parse_command_line(int argc, const char* const* argv) {
  CLI::App app("Sharded training of an MLP, every byte counted. Run it under shoalrun for several ranks.",
               "shoal-train");
  TrainOptions train;
  train.data = kFashionMnist;
  RawOptions raw;
  add_train_options(app, train, raw);

  GradcheckOptions gradcheck;
  std::string gradcheck_dims;
  CLI::App* check = app.add_subcommand(
      "gradcheck", "Loss and gradient of one batch (MSE), compared with central differences; prints JSON");
  check->add_option("--dims", gradcheck_dims, "Widths of the MLP")->required();
  check->add_option("--theta", gradcheck.theta, "Parameters, .npy: W0, b0, W1, b1, ... in one vector")->required();
  check->add_option("--x", gradcheck.x, "Inputs, .npy: batch x first width")->required();
  check->add_option("--y", gradcheck.y, "Targets, .npy: batch x last width")->required();
  check->add_option("--out", gradcheck.out, "Write the gradient there, .npy");

  CommandLine line;
  line.text = shoal::parse_command_line(app, argc, argv);
  if (line.text) return line;
  if (check->parsed()) {
    gradcheck.dims = parse_dims(gradcheck_dims);
    line.gradcheck = gradcheck;
  } else {
    fill(train, raw);
    line.train = train;
  }
  return line;
}

}  // namespace shoal::train

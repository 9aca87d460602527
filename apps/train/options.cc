// The command line. What can be judged without data and without other ranks is judged here.

#include "train/options.h"

#include <CLI/CLI.hpp>
#include <bit>
#include <cmath>
#include <limits>

#include "program/numbers.h"
#include "program/program.h"
#include "train/dataset.h"

namespace shoal::train {
namespace {

constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 40U;
constexpr std::size_t kMostLanes = 65536;
constexpr std::uint64_t kMostParameters = std::uint64_t{1} << 40U;

/// Texts of options, as CLI11 collects them.
struct RawOptions {
  std::string task = "classify";
  std::optional<std::string> dims;
  std::string stage = "2";
  std::string optimizer = "adam";
  std::optional<double> learning_rate;
  std::string schedule = "constant";
  std::optional<std::string> warmup;
  double weight_decay = 0.0;
  std::string precision = "f32";
  std::optional<double> clip;
  std::string algorithm = "auto";
  std::optional<std::string> steps;
  std::optional<std::string> epochs;
  std::optional<std::string> batch;
  std::optional<std::string> accumulate;
  std::optional<std::string> max_padded_tokens;
  std::optional<std::string> max_examples;
  std::optional<std::string> lanes;
  std::optional<std::string> phase;
  std::optional<std::string> report;
  std::optional<std::string> checkpoint_every;
  std::optional<std::string> checkpoint_keep;
  std::optional<std::string> seed;
};

std::uint64_t count_option(const std::string& option, const std::string& text) {
  const auto value = whole_number(text);
  if (!value || *value == 0 || *value > kMostCounted)
    throw UsageError(option + " " + text + ": not a whole number from 1 to 2^40");
  return *value;
}

/// From 0 on.
std::uint64_t number_option(const std::string& option, const std::string& text) {
  const auto value = whole_number(text);
  if (!value) throw UsageError(option + " " + text + ": not a whole number from 0 to 2^64 - 1");
  return *value;
}

/// Also where it is narrowed to f32, in which the optimizer works.
bool is_finite_f32(double value) { return std::isfinite(static_cast<float>(value)); }
bool is_positive_f32(double value) { return is_finite_f32(value) && static_cast<float>(value) > 0.0F; }

float rate_option(const std::string& option, double value) {
  if (value != 0.0 && !is_positive_f32(value))
    throw UsageError(option + ": 0, or a number that is finite and above 0 as f32, is needed");
  return static_cast<float>(value);
}

OptimizerKind optimizer_named(const std::string& text) {
  for (const OptimizerKind kind : kOptimizers)
    if (name(kind) == text) return kind;
  throw UsageError("--optimizer " + text + ": no such optimizer");
}

ScheduleKind schedule_named(const std::string& text) {
  if (text == "cosine") return ScheduleKind::cosine;
  return text == "linear" ? ScheduleKind::linear : ScheduleKind::constant;
}

void fill_learning(TrainOptions& options, const RawOptions& raw) {
  options.optimizer.kind = optimizer_named(raw.optimizer);
  options.optimizer.weight_decay = rate_option("--weight-decay", raw.weight_decay);
  const bool is_adaptive = moments_of(options.optimizer.kind) == 2;
  options.schedule.peak = rate_option("--lr", raw.learning_rate.value_or(is_adaptive ? 0.001 : 0.05));
  options.schedule.kind = schedule_named(raw.schedule);
  if (raw.warmup) options.schedule.warmup = number_option("--warmup", *raw.warmup);
  if (raw.clip) {
    if (!is_positive_f32(*raw.clip)) throw UsageError("--clip: a norm is a number that is finite and above 0 as f32");
    options.clip = raw.clip;
  }
  options.precision = raw.precision == "bf16" ? Precision::bf16 : Precision::f32;
}

void fill_checkpoints(TrainOptions& options, const RawOptions& raw) {
  if (raw.checkpoint_every) options.checkpoint_every = count_option("--checkpoint-every", *raw.checkpoint_every);
  if (raw.checkpoint_keep) options.checkpoint_keep = count_option("--checkpoint-keep", *raw.checkpoint_keep);
  if (options.checkpoints) return;
  for (const auto& [given, option] :
       {std::pair(raw.checkpoint_every.has_value(), "--checkpoint-every"),
        std::pair(raw.checkpoint_keep.has_value(), "--checkpoint-keep"), std::pair(options.resume, "--resume")})
    if (given) throw UsageError(std::string(option) + ": needs --checkpoint DIR");
}

std::vector<std::size_t> default_dims(Task task) {
  switch (task) {
    case Task::classify:
      return {784, 256, 128, 10};
    case Task::autoencode:
      return {784, 128, 32, 128, 784};
    case Task::next_row:
      return {28, 64, 28};
  }
  return {};
}

/// Sequences of varying length are always cut by limits, others where some are given.
void fill_limits(TrainOptions& options, const RawOptions& raw) {
  if (options.task != Task::next_row && !raw.max_padded_tokens && !raw.max_examples) return;
  plan::MicrobatchLimits limits;
  if (raw.max_padded_tokens) limits.max_padded_tokens = count_option("--max-padded-tokens", *raw.max_padded_tokens);
  if (raw.max_examples) limits.max_examples = count_option("--max-examples", *raw.max_examples);
  options.limits = limits;
}

/// A phase of the benchmark is whole as it is.
void fill_phase(TrainOptions& options, const RawOptions& raw) {
  if (!raw.phase) return;
  options.phase = raw.phase;
  for (const auto& [given, option] :
       {std::pair(raw.batch.has_value(), "--batch"), std::pair(raw.accumulate.has_value(), "--accumulate"),
        std::pair(raw.steps.has_value(), "--steps"), std::pair(raw.epochs.has_value(), "--epochs"),
        std::pair(options.checkpoints.has_value(), "--checkpoint")})
    if (given) throw UsageError(std::string(option) + ": not with --phase, whose batches and steps are the plan's");
}

void expect_name(const std::string& option, const std::optional<std::filesystem::path>& file) {
  if (file && file->empty()) throw UsageError(option + ": an empty file name");
}

void fill_files(TrainOptions& options, const RawOptions& raw) {
  data_source(options.data, options.task == Task::classify);
  expect_name("--init", options.init);
  expect_name("--checkpoint", options.checkpoints);
  expect_name("--export", options.export_file);
  expect_name("--report", raw.report);
  options.report = raw.report.value_or("");
}

void fill(TrainOptions& options, const RawOptions& raw) {
  for (const Task task : {Task::classify, Task::autoencode, Task::next_row})
    if (name(task) == raw.task) options.task = task;
  options.dims = raw.dims ? parse_dims(*raw.dims) : default_dims(options.task);
  fill_limits(options, raw);
  fill_files(options, raw);
  fill_phase(options, raw);

  options.stage = raw.stage.front() - '0';
  fill_learning(options, raw);
  if (raw.algorithm != "auto") {
    const auto algorithm = algorithm_named(raw.algorithm);
    if (!algorithm || *algorithm == Algorithm::automatic)
      throw UsageError("--algorithm " + raw.algorithm + ": no such algorithm");
    options.algorithm = *algorithm;
  }

  if (raw.steps) options.steps = count_option("--steps", *raw.steps);
  if (raw.epochs) options.epochs = count_option("--epochs", *raw.epochs);
  if (raw.batch) options.batch = count_option("--batch", *raw.batch);
  if (raw.accumulate) options.accumulate = count_option("--accumulate", *raw.accumulate);
  if (options.accumulate > kMostCounted / options.batch)
    throw UsageError("--accumulate " + *raw.accumulate + ": more than 2^40 samples an update");
  fill_checkpoints(options, raw);
  if (raw.seed) options.seed = number_option("--seed", *raw.seed);
  if (raw.lanes) options.lanes = count_option("--lanes", *raw.lanes);
  if (!std::has_single_bit(options.lanes) || options.lanes > kMostLanes)
    throw UsageError("--lanes " + std::to_string(options.lanes) + ": a power of two up to " +
                     std::to_string(kMostLanes) + " is needed");
}

void add_train_options(CLI::App& app, TrainOptions& options, RawOptions& raw) {
  app.add_option("--data", options.data, "Directory of the IDX files, plain or gzip; or FILE.npy[,LABELS.npy]")
      ->capture_default_str();
  app.add_option("--task", raw.task, "classify (softmax cross-entropy), autoencode or next-row (MSE)")
      ->check(CLI::IsMember({"classify", "autoencode", "next-row"}))
      ->capture_default_str();
  app.add_option("--dims", raw.dims,
                 "Widths of the MLP (classify 784,256,128,10; autoencode 784,128,32,128,784; next-row 28,64,28)");
  app.add_option("--stage", raw.stage, "What is sharded: 0 nothing, 1 optimizer, 2 and gradients, 3 and parameters")
      ->check(CLI::IsMember({"0", "1", "2", "3"}))
      ->capture_default_str();
  app.add_option("--optimizer", raw.optimizer, "sgd, momentum, adam or adamw")
      ->check(CLI::IsMember({"sgd", "momentum", "adam", "adamw"}))
      ->capture_default_str();
  app.add_option("--lr", raw.learning_rate, "Learning rate (adam and adamw 0.001, sgd and momentum 0.05)");
  app.add_option("--schedule", raw.schedule, "What becomes of the learning rate: constant, cosine or linear, to 0")
      ->check(CLI::IsMember({"constant", "cosine", "linear"}))
      ->capture_default_str();
  app.add_option("--warmup", raw.warmup, "Updates in which the learning rate rises to --lr (0)");
  app.add_option("--weight-decay", raw.weight_decay, "Of the parameters (adamw), or added to the gradient (0)");
  app.add_option("--clip", raw.clip, "Longest gradient to step by; longer ones are made that long (none)");
  app.add_option("--precision", raw.precision, "Of parameters in products and between ranks: f32 or bf16")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
  app.add_option("--batch", raw.batch, "Samples of a microbatch, over all ranks (256)");
  app.add_option("--accumulate", raw.accumulate, "Microbatches of an update (1)");
  app.add_option("--max-padded-tokens", raw.max_padded_tokens,
                 "Rows that a lane computes at once, its samples padded to the longest (next-row 12000, else all)");
  app.add_option("--max-examples", raw.max_examples, "Samples that a lane computes at once (next-row 16, else all)");
  auto* steps = app.add_option("--steps", raw.steps, "Updates to make");
  app.add_option("--epochs", raw.epochs, "Passes over the training samples to make (1)")->excludes(steps);
  app.add_option("--seed", raw.seed, "Of the start and of the order of samples (0)");
  app.add_option("--lanes", raw.lanes, "Shares of a batch, a power of two; at most so many ranks (16)");
  app.add_option("--phase", raw.phase, "Run this phase of the benchmark that shoal-plan describes: strong or weak")
      ->check(CLI::IsMember({"strong", "weak"}));
  app.add_option("--algorithm", raw.algorithm, "Of the collectives that carry gradients and parameters")
      ->capture_default_str();
  app.add_option("--init", options.init, "Start from the parameters in this file, .npy: W0, b0, W1, b1, ...");
  app.add_option("--checkpoint", options.checkpoints,
                 "Directory for checkpoints: one after the last step, or when stopped");
  app.add_option("--checkpoint-every", raw.checkpoint_every, "Also one every so many steps");
  app.add_option("--checkpoint-keep", raw.checkpoint_keep, "Keep only the newest so many (all)");
  app.add_flag("--resume", options.resume, "Go on from the newest checkpoint, of any number of ranks and any stage");
  app.add_option("--export", options.export_file, "Write the trained parameters to this file, safetensors");
  app.add_option("--report", raw.report, "Write the report, JSON, to this file, or - for standard output");
  app.add_option("--progress", options.progress, "auto, bar, plain (a line now and then) or none")
      ->check(CLI::IsMember({"auto", "bar", "plain", "none"}))
      ->capture_default_str();
}

}  // namespace

std::vector<std::size_t> parse_dims(const std::string& text) {
  const auto refuse = [&](const std::string& reason) -> UsageError {
    return UsageError("--dims " + text + ": " + reason);
  };
  std::vector<std::size_t> dims;
  for (const std::string& part : split_at_commas(text)) {
    const auto width = whole_number(part);
    if (!width || *width == 0 || *width > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
      throw refuse("'" + part + "' is no width; it takes positive numbers, as in 784,256,10");
    dims.push_back(*width);
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
    expect_name("--theta", gradcheck.theta);
    expect_name("--x", gradcheck.x);
    expect_name("--y", gradcheck.y);
    expect_name("--out", gradcheck.out);
    line.gradcheck = gradcheck;
  } else {
    fill(train, raw);
    line.train = train;
  }
  return line;
}

}  // namespace shoal::train

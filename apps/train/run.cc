// A run from beginning to end: read, train, evaluate, account.

#include "train/run.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

#include "hash/sha256.h"
#include "plan/phases.h"
#include "program/program.h"
#include "train/checkpoints.h"
#include "train/evaluate.h"
#include "train/export.h"
#include "train/gradient_step.h"
#include "train/input_error.h"
#include "train/next_row_objective.h"
#include "train/objective.h"
#include "train/output_file.h"
#include "train/plan.h"
#include "train/progress.h"
#include "train/report.h"
#include "train/share.h"
#include "train/stop_request.h"
#include "train/stream.h"
#include "train/training.h"

namespace shoal::train {
namespace {

using Clock = std::chrono::steady_clock;

/// The first steps of longer runs warm caches and page in memory; they do not count for speed.
constexpr std::uint64_t kWarmUpSteps = 20;

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr std::uint64_t kKibibyte = 1024;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kKibibyte;
}

/// The plan's phase that the options name, in a world of so many ranks.
std::optional<plan::Phase> phase_of(const TrainOptions& options, int ranks) {
  if (!options.phase) return std::nullopt;
  const auto [strong, weak] = plan::benchmark_phases(static_cast<std::uint64_t>(ranks));
  return *options.phase == strong.name ? strong : weak;
}

/// With a phase's batches and steps, and lanes of which each rank has as many as the others: so a rank's samples are those
/// that the plan gives it.
TrainOptions with_phase(TrainOptions options, const std::optional<plan::Phase>& phase, int ranks) {
  if (!phase) return options;
  const auto world = static_cast<std::size_t>(ranks);
  options.batch = phase->global_batch;
  options.steps = phase->updates;
  if (world <= options.lanes) options.lanes = (options.lanes + world - 1) / world * world;
  return options;
}

class Run {
 public:
  Run(Session& session, const TrainOptions& options)
      : comm_(session.world()),
        phase_(phase_of(options, comm_.size())),
        options_(with_phase(options, phase_, comm_.size())),
        layout_(options.dims),
        algorithms_(choose_algorithms(options.algorithm, options.stage)),
        transport_(comm_, algorithms_),
        memory_(*session.heap()) {}

  int execute() {
    check_world();
    check_files();
    data_ = read_on_rank_0(comm_, data_source(options_.data, classes().has_value()), classes());
    check_dims();
    check_phase();
    objective_ = make_objective();
    record_.options = options_;
    record_.phase = phase_;
    record_.ranks = comm_.size();
    record_.parameters = layout_.parameters();
    options_.schedule.updates = steps();

    ShardedModel model(layout_,
                       {.stage = options_.stage,
                        .optimizer = options_.optimizer,
                        .precision = options_.precision,
                        .accumulates = options_.accumulate > 1 || options_.limits},
                       transport_, memory_);
    train(model, start(model));
    if (record_.training.stop_signal == 0 && classes()) evaluate(model);
    hash_parameters(model);
    if (options_.export_file) export_model(comm_, *options_.export_file, model);
    account();
    finish();
    return ended();
  }

 private:
  std::optional<std::size_t> classes() const {
    return options_.task == Task::classify ? std::optional(layout_.outputs()) : std::nullopt;
  }
  bool speaks() const { return comm_.rank() == 0; }
  /// Where rank 0 tells people what happens; the report has standard output to itself if it goes there.
  std::ostream& out() const { return options_.report == "-" ? std::cerr : std::cout; }

  void say(const std::string& text) const {
    if (speaks() && options_.progress != "none") out() << text << std::endl;
  }

  void check_world() const {
    if (static_cast<std::size_t>(comm_.size()) > options_.lanes)
      throw UsageError("--lanes " + std::to_string(options_.lanes) + ": " + std::to_string(comm_.size()) +
                       " ranks need at least as many lanes");
    if (options_.task != Task::classify && layout_.inputs() != layout_.outputs())
      throw UsageError("--dims: " + std::string(name(options_.task)) + " ends with as many outputs (" +
                       std::to_string(layout_.outputs()) + ") as it has inputs (" + std::to_string(layout_.inputs()) +
                       ")");
  }

  void check_dims() const {
    const bool by_row = options_.task == Task::next_row;
    if (by_row && data_.columns == 0)
      throw UsageError("--task next-row: a sample of " + options_.data + " has no rows");
    const std::size_t inputs = by_row ? data_.columns : data_.features;
    if (inputs != layout_.inputs())
      throw UsageError("--dims: the first width is " + std::to_string(layout_.inputs()) + ", but a " +
                       (by_row ? "row" : "sample") + " of " + options_.data + " has " + std::to_string(inputs) +
                       (by_row ? " columns" : " features"));
  }

  std::unique_ptr<Objective> make_objective() const {
    if (options_.task == Task::next_row) return std::make_unique<NextRowObjective>(data_.train, data_.columns);
    return std::make_unique<ImageObjective>(options_.task, data_.train);
  }

  /// The phase's updates are whole, or they would not be the benchmark's.
  void check_phase() const {
    if (!phase_) return;
    const std::uint64_t needed = plan::samples_read(*phase_, static_cast<std::uint64_t>(comm_.size()));
    if (data_.train.count < needed)
      throw UsageError("--phase " + phase_->name + ": takes samples up to number " + std::to_string(needed) + ", but " +
                       options_.data + " has " + std::to_string(data_.train.count));
  }

  /// What cannot be written is better known before the training than after it. The files are left as they are, since
  /// only a run that ends well has a report and a model.
  void check_files() const {
    if (!speaks()) return;
    if (!options_.report.empty() && options_.report != "-") expect_writable(options_.report);
    if (options_.export_file) replaceable(*options_.export_file);
  }

  std::uint64_t steps() const {
    const std::uint64_t steps_per_epoch = (data_.train.count - 1) / samples_per_step() + 1;
    return options_.steps ? *options_.steps : options_.epochs.value_or(1) * steps_per_epoch;
  }

  std::size_t samples_per_step() const { return options_.batch * options_.accumulate; }
  std::size_t largest_batch() const { return phase_ ? options_.batch : std::min(options_.batch, data_.train.count); }
  SampleStream samples() const {
    if (phase_) return {*phase_, comm_.size()};
    return {options_.seed, data_.train.count, samples_per_step()};
  }
  std::uint64_t untimed_steps(std::uint64_t still) const {
    if (phase_) return phase_->warmup;
    return still > kWarmUpSteps ? kWarmUpSteps : 0;
  }

  RunPlan plan(std::uint64_t first, std::uint64_t last) const;
  RunIdentity identity() const;
  TrainingState start(ShardedModel& model);
  std::optional<TrainingState> resume(ShardedModel& model);
  void train(ShardedModel& model, TrainingState state);
  void save(const TrainingState& state, ShardedModel& model);
  void evaluate(ShardedModel& model);
  void hash_parameters(ShardedModel& model);
  void predict_bytes(std::uint64_t first, std::uint64_t last);
  std::string data_sha256() const;
  void account();
  void finish();
  int ended();
  ProgressStyle progress_style() const;

  Communicator& comm_;
  std::optional<plan::Phase> phase_;
  TrainOptions options_;
  Layout layout_;
  GradientAlgorithms algorithms_;
  Transport transport_;
  MemoryAccounts memory_;
  Dataset data_;
  std::unique_ptr<Objective> objective_;
  std::unique_ptr<Checkpoints> checkpoints_;
  bool resumed_ = false;
  std::optional<StopRequest> stop_request_;
  OperationLedger saving_;
  Clock::time_point start_ = Clock::now();
  RankFigures figures_;
  RunRecord record_;
};

/// What a checkpoint is only for: with another of these the samples, or what is made of them, would be others.
RunIdentity Run::identity() const {
  RunIdentity identity{{"task", name(options_.task)},
                       {"dims", options_.dims},
                       {"optimizer", name(options_.optimizer.kind)},
                       {"weight_decay", options_.optimizer.weight_decay},
                       {"seed", options_.seed},
                       {"batch", options_.batch},
                       {"accumulate", options_.accumulate},
                       {"max_padded_tokens", nullptr},
                       {"max_examples", nullptr},
                       {"samples", data_.train.count},
                       {"data_sha256", data_sha256()}};
  if (options_.limits) {
    identity["max_padded_tokens"] = options_.limits->max_padded_tokens;
    identity["max_examples"] = options_.limits->max_examples;
  }
  return identity;
}

/// Of what is trained on: samples, then labels.
std::string Run::data_sha256() const {
  Sha256 hash;
  hash.add(std::as_bytes(std::span(data_.train.pixels)));
  hash.add(std::as_bytes(std::span(data_.train.values)));
  hash.add(std::as_bytes(std::span(data_.train.labels)));
  return hash.finish();
}

TrainingState Run::start(ShardedModel& model) {
  if (options_.checkpoints) {
    checkpoints_ = std::make_unique<Checkpoints>(comm_, *options_.checkpoints, options_.checkpoint_keep, identity());
    if (auto state = resume(model)) return std::move(*state);
  }
  if (options_.init)
    model.start(read_parameters_on_rank_0(comm_, *options_.init, layout_));
  else
    model.start(options_.seed);
  return {};
}

std::optional<TrainingState> Run::resume(ShardedModel& model) {
  const auto newest = checkpoints_->open();
  if (!newest) {
    // Said also where no progress is wanted: it is not what was asked for.
    if (options_.resume && speaks())
      out() << "no checkpoint in " + options_.checkpoints->string() + ": starting anew" << std::endl;
    return std::nullopt;
  }
  const std::string folder = checkpoints_->folder(*newest).string();
  if (!options_.resume)
    throw UsageError("--checkpoint " + options_.checkpoints->string() + ": there is " + folder +
                     "; --resume goes on from it, and another directory begins anew");
  const std::uint64_t last = options_.schedule.updates;
  if (*newest > last)
    throw UsageError(std::string(options_.steps ? "--steps " : "--epochs: ") + std::to_string(last) +
                     (options_.steps ? "" : " steps") + ": " + folder +
                     " has more steps already; they are counted from the start of training");
  resumed_ = true;
  auto state = checkpoints_->load(*newest, model);
  say("going on from " + folder + (*newest == last ? ": no step is left" : ""));
  return state;
}

void Run::train(ShardedModel& model, TrainingState state) {
  SampleStream stream = samples();
  GradientStep gradient_step({.lanes = options_.lanes, .batch = largest_batch(), .limits = options_.limits},
                             *objective_, model, transport_, memory_);
  const std::uint64_t steps = options_.schedule.updates;
  const std::uint64_t first = state.step;
  predict_bytes(first, steps);
  Progress progress(out(), progress_style(), state.step, steps, Clock::now());
  Training::Save save_state;
  if (checkpoints_) save_state = [&](const TrainingState& reached) { save(reached, model); };
  Training training({.schedule = options_.schedule,
                     .clip = options_.clip,
                     .steps = steps,
                     .untimed_steps = untimed_steps(steps - first),
                     .save_every = options_.checkpoint_every},
                    std::move(state), stream, gradient_step, model, transport_, progress, std::move(save_state));

  const Traffic before = comm_.traffic();
  const auto communicated_before = transport_.time();
  stop_request_.emplace();
  record_.training = training.run(*stop_request_);
  figures_.steps = by_operation(comm_.traffic() - before);
  for (std::size_t i = 0; i < kOperationCount; ++i) figures_.steps.rows[i] -= saving_.rows[i];
  figures_.communicate_s = (transport_.time() - communicated_before).count();
  figures_.compute_s = record_.training.wall_s - figures_.communicate_s;
  for (std::size_t use = 0; use < kMemoryUses; ++use)
    figures_.memory_bytes[use] = memory_.peak_bytes(static_cast<MemoryUse>(use));
  if (record_.training.stop_signal == 0) return;
  say("stopped after step " + std::to_string(record_.training.state.step) + " of " + std::to_string(steps) +
      ": the prediction is that of the steps made");
  predict_bytes(first, record_.training.state.step);
}

void Run::save(const TrainingState& state, ShardedModel& model) {
  const Traffic before = comm_.traffic();
  checkpoints_->save(state, model);
  saving_ += by_operation(comm_.traffic() - before);
}

ProgressStyle Run::progress_style() const {
  if (!speaks() || options_.progress == "none") return ProgressStyle::none;
  if (options_.progress == "plain") return ProgressStyle::plain;
  return options_.progress == "bar" ? ProgressStyle::bar : automatic_progress();
}

void Run::evaluate(ShardedModel& model) {
  const auto accuracy = [&](const Split& split) {
    const auto correct = count_correct_over_ranks(model, transport_, split, memory_[MemoryUse::scratch]);
    return static_cast<double>(correct) / static_cast<double>(split.count);
  };
  record_.train_accuracy = accuracy(data_.train);
  if (data_.test.count > 0) record_.test_accuracy = accuracy(data_.test);
  std::ostringstream text;
  text << "accuracy  train " << std::fixed << std::setprecision(4) << *record_.train_accuracy;
  if (record_.test_accuracy) text << "  test " << *record_.test_accuracy;
  say(text.str());
}

/// Each rank for itself has all parameters in turn, so that all find alike whether the last update left them finite.
void Run::hash_parameters(ShardedModel& model) {
  Sha256 hash;
  bool finite = true;
  for (std::size_t layer = 0; layer < layout_.layers().size(); ++layer) {
    const auto masters = model.masters(layer);
    hash.add(std::as_bytes(masters));
    finite = finite && std::all_of(masters.begin(), masters.end(), [](float value) { return std::isfinite(value); });
  }
  if (!finite)
    throw AgreedError(
        "step " + std::to_string(record_.training.state.step) +
        ": its update left parameters that are not finite; a lower --lr, a --warmup or a --clip may keep them so");
  record_.parameters_sha256 = hash.finish();
  std::copy(record_.parameters_sha256.begin(), record_.parameters_sha256.end(), figures_.parameters_sha256.begin());
}

/// Of the steps from `first` to `last`, and of all else.
void Run::predict_bytes(std::uint64_t first, std::uint64_t last) {
  const RunPlan plan = this->plan(first, last);
  const Calibration calibration = comm_.calibration();
  figures_.predicted_steps = predict(training_calls(plan), comm_.rank(), comm_.size(), calibration);
  figures_.predicted_other = predict(other_calls(plan), comm_.rank(), comm_.size(), calibration);
  const StateBytes state = state_bytes(plan, comm_.rank());
  figures_.state_by_formula = {state.parameter, state.gradient, state.optimizer};
}

RunPlan Run::plan(std::uint64_t first, std::uint64_t last) const {
  const RoundCount count =
      count_rounds(samples(), first, last - first, options_.lanes, largest_batch(), options_.limits, *objective_);
  return {.dims = options_.dims,
          .stage = options_.stage,
          .ranks = comm_.size(),
          .algorithms = algorithms_,
          .precision = options_.precision,
          .clips = options_.clip.has_value(),
          .moments = moments_of(options_.optimizer.kind),
          .steps = last - first,
          .rounds = count.rounds,
          .updates = count.updates,
          .reads_start = options_.init.has_value() && !resumed_,
          .opens_checkpoints = checkpoints_ != nullptr,
          .resumes = resumed_,
          .saves = checkpoints_ ? saves_between(first, last, options_.checkpoint_every) : 0,
          .exports = options_.export_file.has_value(),
          .has_labels = classes().has_value(),
          .evaluates = record_.training.stop_signal == 0,
          .features = data_.features,
          .data_type = data_.train.values.empty() ? DataType::u8 : DataType::f32,
          .train_samples = data_.train.count,
          .test_samples = data_.test.count};
}

void Run::account() {
  figures_.other = by_operation(comm_.traffic());
  for (std::size_t i = 0; i < kOperationCount; ++i) figures_.other.rows[i] -= figures_.steps.rows[i];
  figures_.peak_rss_bytes = peak_rss_bytes();
  record_.per_rank = gather_figures(comm_, figures_);
  record_.wall_s = seconds(Clock::now() - start_);
}

void Run::finish() {
  if (!speaks()) return;
  out() << traffic_table(record_) << std::flush;
  const std::string json = report_json(record_);
  if (options_.report == "-") {
    std::cout << json << std::flush;
  } else if (!options_.report.empty()) {
    errno = 0;
    std::ofstream file(options_.report, std::ios::trunc);
    file << json << std::flush;
    if (!file) throw InputError(options_.report, std::string("cannot be written: ") + std::strerror(errno));
  }
  if (!std::cout) throw InputError("standard output", "cannot be written");
  for (const RankFigures& rank : record_.per_rank)
    if (rank.parameters_sha256 != figures_.parameters_sha256)
      throw std::runtime_error("the ranks ended with different parameters");
  if (!record_.matches() || !record_.other_matches())
    throw std::runtime_error("the bytes moved differ from those predicted");
}

/// As a program ends that a signal stops, unless what was done so far is kept.
int Run::ended() {
  if (record_.training.stop_signal == 0 || checkpoints_) return 0;
  stop_request_.reset();
  std::raise(record_.training.stop_signal);
  return 0;
}

}  // namespace

int run_training(Session& session, const TrainOptions& options) { return Run(session, options).execute(); }

}  // namespace shoal::train

// A run from beginning to end: read, train, evaluate, account.

#include "train/run.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "program/program.h"
#include "train/batch.h"
#include "train/evaluate.h"
#include "train/gradient_step.h"
#include "train/input_error.h"
#include "train/plan.h"
#include "train/report.h"
#include "train/sha256.h"
#include "train/share.h"
#include "train/stream.h"

namespace shoal::train {
namespace {

using Clock = std::chrono::steady_clock;

/// The first steps of longer runs warm caches and page in memory; they do not count for speed.
constexpr std::uint64_t kWarmUpSteps = 20;
constexpr std::uint64_t kProgressLines = 10;

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr std::uint64_t kKibibyte = 1024;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kKibibyte;
}

class Run {
 public:
  Run(Communicator& comm, const TrainOptions& options)
      : comm_(comm),
        options_(options),
        layout_(options.dims),
        algorithms_(choose_algorithms(options.algorithm, options.stage)),
        transport_(comm, algorithms_) {}

  int execute() {
    check_world();
    check_report_file();
    data_ = read_on_rank_0(comm_, options_.data, classes());
    check_dims(data_.features);
    record_.options = options_;
    record_.ranks = comm_.size();
    record_.parameters = layout_.parameters();
    record_.steps = steps();
    predict_bytes();

    ShardedModel model(layout_, options_.stage, options_.optimizer, options_.seed, transport_, memory_);
    train(model);
    if (classes()) evaluate(model);
    hash_parameters(model);
    account();
    return finish();
  }

 private:
  std::optional<std::size_t> classes() const {
    return options_.task == Task::classify ? std::optional(layout_.outputs()) : std::nullopt;
  }
  bool speaks() const { return comm_.rank() == 0; }
  /// Where rank 0 tells people what happens; the report has standard output to itself if it goes there.
  std::ostream& out() const { return options_.report == "-" ? std::cerr : std::cout; }

  void check_world() const {
    if (static_cast<std::size_t>(comm_.size()) > options_.lanes)
      throw UsageError("--lanes " + std::to_string(options_.lanes) + ": " + std::to_string(comm_.size()) +
                       " ranks need at least as many lanes");
    if (options_.task == Task::autoencode && layout_.inputs() != layout_.outputs())
      throw UsageError("--dims: an autoencoder ends with as many outputs (" + std::to_string(layout_.outputs()) +
                       ") as it has inputs (" + std::to_string(layout_.inputs()) + ")");
  }

  void check_dims(std::size_t features) const {
    if (features != layout_.inputs())
      throw UsageError("--dims: the first width is " + std::to_string(layout_.inputs()) + ", but a sample of " +
                       options_.data.string() + " has " + std::to_string(features) + " features");
  }

  /// A report that cannot be written is better known before the training than after it. The file is left as it is,
  /// since only a run that ends well has a report.
  void check_report_file() const {
    if (!speaks() || options_.report.empty() || options_.report == "-") return;
    const std::filesystem::path file(options_.report);
    std::error_code ignored;  // What cannot be looked at is not there, as far as that matters here.
    const auto status = std::filesystem::status(file, ignored);
    const bool is_directory = std::filesystem::is_directory(status);
    const auto written_to = std::filesystem::exists(status) ? file : file.parent_path() / ".";
    if (!is_directory && access(written_to.c_str(), W_OK) == 0) return;
    throw InputError(options_.report,
                     std::string("cannot be written: ") + std::strerror(is_directory ? EISDIR : errno));
  }

  std::uint64_t steps() const {
    const std::uint64_t batches_per_epoch = (data_.train.count - 1) / options_.batch + 1;
    return options_.steps ? *options_.steps : options_.epochs.value_or(1) * batches_per_epoch;
  }

  void predict_bytes();
  void train(ShardedModel& model);
  void progress(std::uint64_t step, double loss) const;
  void evaluate(ShardedModel& model);
  void hash_parameters(ShardedModel& model);
  void account();
  int finish();

  Communicator& comm_;
  TrainOptions options_;
  Layout layout_;
  GradientAlgorithms algorithms_;
  Transport transport_;
  MemoryAccounts memory_;
  Dataset data_;
  Clock::time_point start_ = Clock::now();
  RankFigures figures_;
  RunRecord record_;
};

void Run::predict_bytes() {
  const RunPlan plan{.dims = options_.dims,
                     .stage = options_.stage,
                     .ranks = comm_.size(),
                     .algorithms = algorithms_,
                     .steps = record_.steps,
                     .has_labels = classes().has_value(),
                     .train_samples = data_.train.count,
                     .test_samples = data_.test.count};
  const Calibration calibration = comm_.calibration();
  figures_.predicted_steps = predict(training_calls(plan), comm_.rank(), comm_.size(), calibration);
  figures_.predicted_other = predict(other_calls(plan), comm_.rank(), comm_.size(), calibration);
}

void Run::train(ShardedModel& model) {
  SampleStream stream(options_.seed, data_.train.count, options_.batch);
  const std::uint64_t untimed = record_.steps > kWarmUpSteps ? kWarmUpSteps : 0;
  ImageBatch batch(options_.task, data_.train, data_.features);
  GradientStep gradient_step(options_.lanes, std::min(options_.batch, data_.train.count), model, transport_, memory_);
  Sha256 stream_hash;

  const Traffic before = comm_.traffic();
  const auto communicated_before = transport_.time();
  const auto start = Clock::now();
  auto timed_from = start;
  for (std::uint64_t step = 0; step < record_.steps; ++step) {
    if (step == untimed) timed_from = Clock::now();
    const auto ids = stream.next();
    stream_hash.add(std::as_bytes(ids));
    batch.select(ids);
    record_.losses.push_back(gradient_step.run(batch));
    model.update(static_cast<float>(batch.weight()));
    if (step >= untimed) record_.timed_samples += ids.size();
    progress(step + 1, record_.losses.back());
  }
  const auto end = Clock::now();

  figures_.steps = by_operation(comm_.traffic() - before);
  figures_.communicate_s = (transport_.time() - communicated_before).count();
  figures_.compute_s = seconds(end - start) - figures_.communicate_s;
  for (std::size_t use = 0; use < kMemoryUses; ++use)
    figures_.memory_bytes[use] = memory_[static_cast<MemoryUse>(use)].peak_bytes();
  record_.timed_s = seconds(end - timed_from);
  record_.timed_steps = record_.steps - untimed;
  record_.stream_sha256 = stream_hash.finish();
}

void Run::progress(std::uint64_t step, double loss) const {
  if (!speaks() || options_.progress == "none") return;
  const std::uint64_t every = std::max<std::uint64_t>(1, record_.steps / kProgressLines);
  if (step == 1 || step % every == 0 || step == record_.steps)
    out() << "step " << step << " of " << record_.steps << "  loss " << std::fixed << std::setprecision(6) << loss
          << std::defaultfloat << std::endl;
}

void Run::evaluate(ShardedModel& model) {
  const auto accuracy = [&](const Split& split) {
    const auto correct = count_correct_over_ranks(model, transport_, split, memory_[MemoryUse::scratch]);
    return static_cast<double>(correct) / static_cast<double>(split.count);
  };
  record_.train_accuracy = accuracy(data_.train);
  record_.test_accuracy = accuracy(data_.test);
  if (speaks() && options_.progress != "none")
    out() << "accuracy  train " << std::fixed << std::setprecision(4) << *record_.train_accuracy << "  test "
          << *record_.test_accuracy << std::defaultfloat << std::endl;
}

void Run::hash_parameters(ShardedModel& model) {
  Sha256 hash;
  for (std::size_t layer = 0; layer < layout_.layers().size(); ++layer)
    hash.add(std::as_bytes(model.parameters(layer)));
  record_.parameters_sha256 = hash.finish();
  std::copy(record_.parameters_sha256.begin(), record_.parameters_sha256.end(), figures_.parameters_sha256.begin());
}

void Run::account() {
  figures_.other = by_operation(comm_.traffic());
  for (std::size_t i = 0; i < kOperationCount; ++i) figures_.other.rows[i] -= figures_.steps.rows[i];
  figures_.peak_rss_bytes = peak_rss_bytes();
  record_.per_rank = gather_figures(comm_, figures_);
  record_.wall_s = seconds(Clock::now() - start_);
}

int Run::finish() {
  if (!speaks()) return 0;
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
  return 0;
}

}  // namespace

int run_training(Communicator& comm, const TrainOptions& options) { return Run(comm, options).execute(); }

}  // namespace shoal::train

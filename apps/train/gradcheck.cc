#include "train/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "train/gradient_step.h"
#include "train/input_error.h"
#include "train/loss.h"
#include "train/npy.h"

namespace shoal::train {
namespace {

constexpr std::size_t kLanes = 16;
constexpr double kStep = 1e-5;
/// Parameters checked: as many as so many multiplications allow, within these bounds.
constexpr double kWork = 2e9;
constexpr std::size_t kFewest = 8;
constexpr std::size_t kMost = 256;

/// Rows of x against rows of y; samples are numbers of rows.
class RegressionObjective : public Objective {
 public:
  RegressionObjective(const NpyArray& x, const NpyArray& y, std::size_t rows)
      : x_(x.values), y_(y.values), rows_(rows) {}

  std::size_t rows(std::int64_t /*sample*/) const override { return 1; }
  std::size_t most_rows() const override { return 1; }
  double weight_of_row() const override { return static_cast<double>(y_.size() / rows_); }

  void load(std::span<const std::int64_t> samples, std::span<float> inputs) override { take(x_, samples, inputs); }

  double loss(std::span<const std::int64_t> samples, std::span<const float> /*inputs*/, std::span<const float> outputs,
              std::span<float> derivative) override {
    targets_.resize(outputs.size());
    take(y_, samples, targets_);
    return squared_error(outputs, targets_, derivative);
  }

 private:
  void take(std::span<const float> from, std::span<const std::int64_t> samples, std::span<float> into) const {
    const std::size_t width = from.size() / rows_;
    for (std::size_t row = 0; row < samples.size(); ++row) {
      const auto source = from.subspan(static_cast<std::size_t>(samples[row]) * width, width);
      std::copy(source.begin(), source.end(), into.subspan(row * width).begin());
    }
  }

  std::span<const float> x_;
  std::span<const float> y_;
  std::size_t rows_;
  std::vector<float> targets_;
};

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "(";
  for (const std::size_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + ")";
}

void require_shape(const std::filesystem::path& file, const NpyArray& array, const std::vector<std::size_t>& wanted) {
  if (array.shape != wanted)
    throw InputError(file.string(),
                     "has shape " + shape_text(array.shape) + " where " + shape_text(wanted) + " is needed");
}

struct Problem {
  Layout layout;
  NpyArray theta;
  NpyArray x;
  NpyArray y;
  std::size_t batch = 0;
};

Problem read_problem(const GradcheckOptions& options) {
  Problem problem{.layout = Layout(options.dims),
                  .theta = read_npy(options.theta),
                  .x = read_npy(options.x),
                  .y = read_npy(options.y)};
  require_shape(options.theta, problem.theta, {problem.layout.parameters()});
  if (problem.x.shape.size() == 2) problem.batch = problem.x.shape[0];
  require_shape(options.x, problem.x, {problem.batch, problem.layout.inputs()});
  if (problem.batch == 0) throw InputError(options.x.string(), "has no rows");
  require_shape(options.y, problem.y, {problem.batch, problem.layout.outputs()});
  return problem;
}

/// So many indices below `count`, evenly spread, the first and the last among them.
std::vector<std::size_t> spread(std::size_t count, std::size_t wanted) {
  std::vector<std::size_t> indices;
  wanted = std::min(wanted, count);
  for (std::size_t i = 0; i < wanted; ++i)
    indices.push_back(wanted == 1 ? 0
                                  : static_cast<std::size_t>(static_cast<double>(i) * static_cast<double>(count - 1) /
                                                             static_cast<double>(wanted - 1)));
  return indices;
}

}  // namespace

double reference_loss(const Layout& layout, std::span<const double> parameters, std::span<const float> x,
                      std::span<const float> y) {
  const std::size_t batch = x.size() / layout.inputs();
  double loss = 0.0;
  for (std::size_t row = 0; row < batch; ++row) {
    const auto inputs = x.subspan(row * layout.inputs(), layout.inputs());
    std::vector<double> values(inputs.begin(), inputs.end());
    for (const Layer& layer : layout.layers()) {
      const auto weights = parameters.subspan(layer.offset, layer.weights());
      const auto bias = parameters.subspan(layer.offset + layer.weights(), layer.outputs);
      std::vector<double> results(bias.begin(), bias.end());
      for (std::size_t i = 0; i < layer.inputs; ++i)
        for (std::size_t j = 0; j < layer.outputs; ++j) results[j] += values[i] * weights[i * layer.outputs + j];
      if (&layer != &layout.layers().back())
        for (double& result : results) result = std::max(result, 0.0);
      values = std::move(results);
    }
    for (std::size_t j = 0; j < values.size(); ++j) {
      const double difference = values[j] - static_cast<double>(y[row * values.size() + j]);
      loss += difference * difference;
    }
  }
  return loss / static_cast<double>(y.size());
}

std::string run_gradcheck(Communicator& comm, const GradcheckOptions& options) {
  const Problem problem = read_problem(options);
  const Layout& layout = problem.layout;
  Transport transport(comm, {});
  MemoryAccounts memory;
  // Stage 0 keeps the whole gradient.
  ShardedModel model(layout, {.stage = 0, .optimizer = {.kind = OptimizerKind::sgd}}, transport, memory);
  model.start(problem.theta.values);
  RegressionObjective objective(problem.x, problem.y, problem.batch);
  GradientStep gradient_step({.lanes = kLanes, .batch = problem.batch}, objective, model, transport, memory);
  std::vector<std::int64_t> rows(problem.batch);
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  const StepResult result = gradient_step.run(rows);
  std::vector<float> gradient;
  for (std::size_t layer = 0; layer < layout.layers().size(); ++layer)
    for (const float sum : model.gradient_room(layer)) gradient.push_back(sum / static_cast<float>(result.weight));

  const double work = 2.0 * static_cast<double>(layout.parameters()) * static_cast<double>(problem.batch);
  const auto checks = spread(
      layout.parameters(),
      static_cast<std::size_t>(std::clamp(kWork / work, static_cast<double>(kFewest), static_cast<double>(kMost))));
  std::vector<double> theta(problem.theta.values.begin(), problem.theta.values.end());
  double max_difference = 0.0;
  for (const std::size_t index : checks) {
    const double at = theta[index];
    theta[index] = at + kStep;
    const double above = reference_loss(layout, theta, problem.x.values, problem.y.values);
    theta[index] = at - kStep;
    const double below = reference_loss(layout, theta, problem.x.values, problem.y.values);
    theta[index] = at;
    const double difference = std::abs((above - below) / (2.0 * kStep) - static_cast<double>(gradient[index]));
    // NaN must not pass for no difference.
    max_difference = difference <= max_difference ? max_difference : difference;
  }
  if (options.out) write_npy(*options.out, std::array{gradient.size()}, gradient);
  return nlohmann::ordered_json{{"loss", result.loss}, {"checked", checks.size()}, {"max_difference", max_difference}}
             .dump() +
         "\n";
}

}  // namespace shoal::train

// The loop over layers is the outer one, the loop over lanes the inner: a layer's parameters are needed once in each
// direction, whatever the number of lanes, and its gradient can be reduced, and its memory given up, before the
// next layer's is begun.

#include "train/gradient_step.h"

#include <algorithm>
#include <array>

#include "train/tree.h"

namespace shoal::train {

GradientStep::GradientStep(const StepSettings& settings, Objective& objective, ShardedModel& model,
                           Transport& transport, MemoryAccounts& memory)
    : batch_(settings.batch),
      objective_(&objective),
      model_(&model),
      transport_(&transport),
      rounds_(settings.lanes, transport.rank(), transport.size(), settings.batch, settings.limits, objective),
      mlp_(model.layout(), rounds_.most_rows(), rounds_.own_lanes(), memory[MemoryUse::scratch]),
      losses_(rounds_.own_lanes()) {
  segments_.reserve(rounds_.own_lanes());
}

StepResult GradientStep::run(std::span<const std::int64_t> samples, bool stop_wanted) {
  StepResult result;
  std::fill(losses_.begin(), losses_.end(), 0.0);
  for (std::size_t first = 0; first < samples.size(); first += batch_) {
    rounds_.cut(samples.subspan(first, std::min(batch_, samples.size() - first)));
    for (std::size_t round = 0; round < rounds_.count(); ++round) {
      forward(rounds_.parts(round));
      backward(result.rounds++ == 0);
    }
    result.weight += static_cast<double>(rounds_.rows_of_batch()) * objective_->weight_of_row();
  }
  const auto [loss, stops] = transport_->sum(std::array{canonical_sum(losses_), stop_wanted ? 1.0 : 0.0});
  result.loss = result.weight > 0.0 ? loss / result.weight : 0.0;
  result.stop_wanted = stops > 0.0;
  return result;
}

void GradientStep::forward(std::span<const LanePart> parts) {
  segments_.clear();
  for (const LanePart& part : parts) {
    segments_.push_back(part.rows);
    objective_->load(part.samples, mlp_.inputs(part.rows));
  }
  for (std::size_t layer = 0; layer < model_->layout().layers().size(); ++layer)
    mlp_.forward(layer, model_->parameters(layer), segments_);
  for (std::size_t lane = 0; lane < parts.size(); ++lane) {
    const Segment& rows = parts[lane].rows;
    losses_[lane] +=
        objective_->loss(parts[lane].samples, mlp_.inputs(rows), mlp_.outputs(rows), mlp_.output_derivative(rows));
  }
}

void GradientStep::backward(bool first) {
  for (std::size_t layer = model_->layout().layers().size(); layer-- > 0;) {
    mlp_.gradient(layer, segments_, model_->gradient_room(layer));
    model_->reduce_gradient(layer, first);
    // Layer 0 too is asked for, though nothing is below it: stage 3 gathers every layer twice a step, as its cost,
    // 3 (P-1)/P of the parameters, has it.
    const auto parameters = model_->parameters(layer);
    if (layer > 0) mlp_.backward(layer, parameters, segments_);
  }
}

}  // namespace shoal::train

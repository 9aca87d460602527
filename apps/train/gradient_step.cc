// The loop over layers is the outer one, the loop over lanes the inner: a layer's parameters are needed once in each
// direction, whatever the number of lanes, and its gradient can be reduced, and its memory given up, before the
// next layer's is begun.

#include "train/gradient_step.h"

#include "train/tree.h"

namespace shoal::train {

GradientStep::GradientStep(std::size_t lanes, std::size_t largest_batch, ShardedModel& model, Transport& transport,
                           MemoryAccounts& memory)
    : lanes_(lanes),
      model_(&model),
      transport_(&transport),
      mlp_(model.layout(), rows_of(lanes_of(lanes, transport.rank(), transport.size(), largest_batch)),
           lanes_of(lanes, transport.rank(), transport.size(), largest_batch).size(), memory[MemoryUse::scratch]) {}

double GradientStep::run(Batch& batch) {
  own_lanes_ = lanes_of(lanes_, transport_->rank(), transport_->size(), batch.size());
  segments_.clear();
  for (const Lane& lane : own_lanes_) segments_.push_back(lane.rows);
  const double loss = forward(batch);
  backward();
  return loss;
}

double GradientStep::forward(Batch& batch) {
  for (const Lane& lane : own_lanes_) batch.load(lane, mlp_.inputs(lane.rows));
  for (std::size_t layer = 0; layer < model_->layout().layers().size(); ++layer)
    mlp_.forward(layer, model_->parameters(layer), segments_);
  losses_.clear();
  for (const Lane& lane : own_lanes_)
    losses_.push_back(
        batch.loss(lane, mlp_.inputs(lane.rows), mlp_.outputs(lane.rows), mlp_.output_derivative(lane.rows)));
  return transport_->sum(canonical_sum(losses_)) / batch.weight();
}

void GradientStep::backward() {
  for (std::size_t layer = model_->layout().layers().size(); layer-- > 0;) {
    mlp_.gradient(layer, segments_, model_->gradient_room(layer));
    model_->reduce_gradient(layer);
    // Layer 0 too is asked for, though nothing is below it: stage 3 gathers every layer twice a step, as its cost,
    // 3 (P-1)/P of the parameters, has it.
    const auto parameters = model_->parameters(layer);
    if (layer > 0) mlp_.backward(layer, parameters, segments_);
  }
}

}  // namespace shoal::train

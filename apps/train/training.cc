#include "train/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <string>
#include <utility>

#include "program/program.h"

namespace shoal::train {
namespace {

using Clock = std::chrono::steady_clock;

/// Steps whose losses have room from the start: most runs make no more.
constexpr std::uint64_t kStepsFromTheStart = std::uint64_t{1} << 20U;

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

bool is_checkpoint_due(std::uint64_t step, const TrainingSettings& settings) {
  return step == settings.steps || (settings.save_every > 0 && step % settings.save_every == 0);
}

Training::Training(const TrainingSettings& settings, TrainingState state, SampleStream& stream,
                   GradientStep& gradient_step, ShardedModel& model, Transport& transport, Progress& progress,
                   Save save)
    : settings_(settings),
      stream_(&stream),
      gradient_step_(&gradient_step),
      model_(&model),
      transport_(&transport),
      progress_(&progress),
      save_(std::move(save)) {
  record_.first_step = state.step;
  record_.state = std::move(state);
  record_.state.losses.reserve(std::min(settings.steps, kStepsFromTheStart));
  // The hash is that of the whole stream, whoever consumed it.
  for (std::uint64_t step = 0; step < record_.first_step; ++step) stream_hash_.add(std::as_bytes(stream_->next()));
}

TrainingRecord Training::run(const StopRequest& stop_request) {
  sent_before_ = transport_->comm().traffic().sent;
  TrainingState& state = record_.state;
  const std::uint64_t timed_from_step = record_.first_step + settings_.untimed_steps;
  const auto start = Clock::now();
  auto timed_from = start;
  double saved_before_s = 0.0;
  std::uint64_t samples_so_far = 0;
  while (state.step < settings_.steps && record_.stop_signal == 0) {
    if (state.step == timed_from_step) {
      timed_from = Clock::now();
      saved_before_s = saving_s_;
    }
    const auto samples = stream_->next();
    stream_hash_.add(std::as_bytes(samples));
    const bool stop_wanted = step(samples, stop_request.signal() != 0);
    // A rank that was not told itself ends as those that were asked to. After the last step there is nothing to stop.
    if (stop_wanted && state.step < settings_.steps)
      record_.stop_signal = stop_request.signal() != 0 ? stop_request.signal() : SIGTERM;
    samples_so_far += samples.size();
    if (state.step > timed_from_step) record_.timed_samples += samples.size();
    tell(samples_so_far);
    save_if_due();
  }
  const auto end = Clock::now();
  progress_->finish();
  record_.wall_s = seconds(end - start) - saving_s_;
  record_.timed_s = seconds(end - timed_from) - (saving_s_ - saved_before_s);
  record_.timed_steps = state.step > timed_from_step ? state.step - timed_from_step : 0;
  record_.stream_sha256 = stream_hash_.finish();
  return std::move(record_);
}

/// Whether any rank wants to stop.
bool Training::step(std::span<const std::int64_t> samples, bool stop_wanted) {
  const StepResult result = gradient_step_->run(samples, stop_wanted);
  TrainingState& state = record_.state;
  ++state.step;
  if (!std::isfinite(result.loss))
    throw AgreedError("step " + std::to_string(state.step) + ": the loss is not finite (" +
                      std::to_string(result.loss) + "); a lower --lr, a --warmup or a --clip may keep it so");
  state.losses.push_back(result.loss);
  if (result.weight == 0.0) return result.stop_wanted;  // Nothing was learnt: nothing changes, nor the schedule.
  model_->update(settings_.schedule.learning_rate(state.updates), scale_of(result.weight));
  ++state.updates;
  return result.stop_wanted;
}

void Training::save_if_due() {
  if (!save_ || (record_.stop_signal == 0 && !is_checkpoint_due(record_.state.step, settings_))) return;
  const auto start = Clock::now();
  save_(record_.state);
  saving_s_ += seconds(Clock::now() - start);
}

GradientScale Training::scale_of(double weight) {
  GradientScale scale{.weight = static_cast<float>(weight), .clip = 1.0F};
  if (settings_.clip) {
    const double norm = model_->gradient_norm() / weight;
    if (norm > *settings_.clip) scale.clip = static_cast<float>(*settings_.clip / norm);
  }
  return scale;
}

void Training::tell(std::uint64_t samples_so_far) {
  const auto now = Clock::now();
  if (progress_->shows(record_.state.step, now))
    progress_->show({.step = record_.state.step,
                     .loss = record_.state.losses.back(),
                     .samples = samples_so_far,
                     .bytes_sent = transport_->comm().traffic().sent - sent_before_},
                    now);
}

}  // namespace shoal::train

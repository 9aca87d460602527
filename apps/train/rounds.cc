#include "train/rounds.h"

#include <algorithm>

namespace shoal::train {
namespace {

std::size_t share(std::size_t count, std::size_t parts, std::size_t part) {
  return part < count ? (count - part + parts - 1) / parts : 0;
}

}  // namespace

Rounds::Rounds(std::size_t lanes, int rank, int ranks, std::size_t largest_batch,
               std::optional<plan::MicrobatchLimits> limits, const Objective& objective)
    : lanes_(lanes),
      rank_(static_cast<std::size_t>(rank)),
      ranks_(static_cast<std::size_t>(ranks)),
      own_lanes_(share(lanes, ranks_, rank_)),
      limits_(limits),
      objective_(&objective),
      samples_(largest_batch) {
  examples_.reserve(share(largest_batch, lanes, 0));
  for (std::size_t lane = rank_; lane < lanes; lane += ranks_) {
    std::size_t at_once = share(largest_batch, lanes, lane) * objective.most_rows();
    if (limits) at_once = std::min(at_once, limits->most_tokens(objective.most_rows()));
    most_rows_ += at_once;
  }
  // No lane has more samples than lane 0, and none more microbatches than samples.
  const std::size_t most_rounds = limits ? std::max<std::size_t>(1, share(largest_batch, lanes, 0)) : 1;
  parts_.reserve(most_rounds * own_lanes_);
}

void Rounds::cut(std::span<const std::int64_t> batch) {
  parts_.assign(own_lanes_, {});
  filled_ = 0;
  count_ = 1;
  rows_ = 0;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    std::size_t round = 0;
    const auto examples = examples_of(lane, batch);
    const auto add = [&](std::span<const plan::Example> part) { add_part(lane, round++, part, batch); };
    if (limits_)
      plan::cut_microbatches(examples, *limits_, add);
    else
      add(examples);
  }
  for (std::size_t round = 0; round < count_; ++round) {
    std::size_t first = 0;
    for (LanePart& part : std::span(parts_).subspan(round * own_lanes_, own_lanes_)) {
      part.rows.first = first;
      first += part.rows.rows;
    }
  }
}

/// Those that have rows, in the order of the batch.
std::span<plan::Example> Rounds::examples_of(std::size_t lane, std::span<const std::int64_t> batch) {
  examples_.clear();
  for (std::size_t position = lane; position < batch.size(); position += lanes_) {
    const std::size_t rows = objective_->rows(batch[position]);
    rows_ += rows;
    if (rows > 0) examples_.push_back({.length = rows, .position = position});
  }
  return examples_;
}

void Rounds::add_part(std::size_t lane, std::size_t round, std::span<const plan::Example> examples,
                      std::span<const std::int64_t> batch) {
  if (round >= count_) {
    count_ = round + 1;
    parts_.resize(count_ * own_lanes_);
  }
  if (!is_own(lane)) return;
  LanePart& part = parts_[round * own_lanes_ + lane / ranks_];
  part.samples = std::span(samples_).subspan(filled_, examples.size());
  for (const auto& [rows, position] : examples) {
    samples_[filled_++] = batch[position];
    part.rows.rows += rows;
  }
}

RoundCount count_rounds(SampleStream stream, std::uint64_t first, std::uint64_t steps, std::size_t lanes,
                        std::size_t batch, std::optional<plan::MicrobatchLimits> limits, const Objective& objective) {
  Rounds rounds(lanes, 0, 1, batch, limits, objective);
  RoundCount count;
  const auto add = [&](std::span<const std::int64_t> samples, std::uint64_t times) {
    std::uint64_t rows = 0;
    for (std::size_t begin = 0; begin < samples.size(); begin += batch) {
      rounds.cut(samples.subspan(begin, std::min(batch, samples.size() - begin)));
      count.rounds += times * rounds.count();
      rows += rounds.rows_of_batch();
    }
    if (rows > 0) count.updates += times;
  };
  if (objective.is_uniform()) {
    // All steps are alike but the last one of each epoch.
    const std::uint64_t steps_per_epoch = (stream.samples() - 1) / stream.batch() + 1;
    const std::uint64_t last_ones = (first + steps) / steps_per_epoch - first / steps_per_epoch;
    const auto whole = stream.next();
    add(whole, steps - last_ones);
    add(whole.first(stream.samples() - (steps_per_epoch - 1) * stream.batch()), last_ones);
    return count;
  }
  for (std::uint64_t step = 0; step < first; ++step) stream.next();
  for (std::uint64_t step = 0; step < steps; ++step) add(stream.next(), 1);
  return count;
}

}  // namespace shoal::train

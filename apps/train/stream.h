#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/phases.h"

namespace shoal::train {

/// The order in which `samples` ids are consumed in one epoch: a permutation, every id once. Fisher-Yates from
/// the end, its draws unbiased (a word that would favour small values is drawn again). It depends on seed, epoch and
/// number of samples alone.
std::vector<std::int64_t> epoch_order(std::uint64_t seed, std::uint32_t epoch, std::size_t samples);
/// The same into memory that is there, one id for each sample.
void fill_epoch_order(std::uint64_t seed, std::uint32_t epoch, std::span<std::int64_t> order);

/// The samples of a run, batch after batch, the same for every world size: each epoch is one epoch_order() cut
/// into batches; its last batch is short where the batch size does not divide the number of samples.
class SampleStream {
 public:
  SampleStream(std::uint64_t seed, std::size_t samples, std::size_t batch);

  /// A phase of the plan, update after update, whole ones only: each gives rank r what step_indices() gives it, at the
  /// positions r, r + world, ... of the batch.
  SampleStream(const plan::Phase& phase, int world);

  /// Ids of the next batch, in global order. Valid until the next call.
  std::span<const std::int64_t> next();

  std::size_t samples() const { return order_.size(); }  ///< Of an epoch.
  std::size_t batch() const { return batch_; }

 private:
  std::uint64_t seed_;
  std::size_t batch_;
  std::uint32_t epoch_ = 0;
  std::size_t position_ = 0;
  std::vector<std::int64_t> order_;
};

}  // namespace shoal::train

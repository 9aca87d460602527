#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::train {

/// The order in which `samples` ids are consumed in one epoch: a permutation, every id once. Fisher-Yates from
/// the end, its draws unbiased (a word that would favour small values is drawn again). It depends on seed, epoch and
/// number of samples alone.
std::vector<std::int64_t> epoch_order(std::uint64_t seed, std::uint32_t epoch, std::size_t samples);

/// The samples of a run, batch after batch, the same for every world size: each epoch is one epoch_order() cut
/// into batches; its last batch is short where the batch size does not divide the number of samples.
class SampleStream {
 public:
  SampleStream(std::uint64_t seed, std::size_t samples, std::size_t batch);

  /// Ids of the next batch, in global order. Valid until the next call.
  std::span<const std::int64_t> next();

 private:
  std::uint64_t seed_;
  std::size_t batch_;
  std::uint32_t epoch_ = 0;
  std::size_t position_ = 0;
  std::vector<std::int64_t> order_;
};

}  // namespace shoal::train

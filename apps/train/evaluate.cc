#include "train/evaluate.h"

#include <algorithm>
#include <vector>

#include "train/loss.h"
#include "train/mlp.h"

namespace shoal::train {
namespace {

std::size_t blocks_of(std::size_t samples) { return (samples + kEvaluationBlock - 1) / kEvaluationBlock; }

}  // namespace

std::uint64_t evaluation_rounds(std::size_t samples, int ranks) {
  const std::size_t blocks_a_round = kBlocksPerRound * static_cast<std::size_t>(ranks);
  return (blocks_of(samples) + blocks_a_round - 1) / blocks_a_round;
}

std::int64_t count_correct_over_ranks(ShardedModel& model, Transport& transport, const Split& data,
                                      std::pmr::memory_resource& scratch) {
  const Layout& layout = model.layout();
  Mlp mlp(layout, kBlocksPerRound * kEvaluationBlock, 0, scratch);
  const auto ranks = static_cast<std::size_t>(transport.size());
  auto block = static_cast<std::size_t>(transport.rank());
  std::int64_t correct = 0;
  for (std::uint64_t round = 0; round < evaluation_rounds(data.count, transport.size()); ++round) {
    std::vector<Segment> segments;
    std::vector<std::size_t> first_samples;
    for (std::size_t i = 0; i < kBlocksPerRound && block < blocks_of(data.count); ++i, block += ranks) {
      const std::size_t first = block * kEvaluationBlock;
      segments.push_back({i * kEvaluationBlock, std::min(kEvaluationBlock, data.count - first)});
      first_samples.push_back(first);
      data.load(first, segments.back().rows, mlp.inputs(segments.back()));
    }
    // A rank that has run out of blocks still takes part: at stage 3 each layer is gathered from all.
    for (std::size_t layer = 0; layer < layout.layers().size(); ++layer)
      mlp.forward(layer, model.parameters(layer), segments);
    for (std::size_t i = 0; i < segments.size(); ++i)
      correct += static_cast<std::int64_t>(
          count_correct(mlp.outputs(segments[i]), std::span(data.labels).subspan(first_samples[i], segments[i].rows)));
  }
  all_reduce(transport.comm(), std::span(&correct, 1), ReduceOp::sum);
  return correct;
}

}  // namespace shoal::train

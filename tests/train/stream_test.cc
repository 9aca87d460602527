#include "train/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "train/philox.h"

namespace shoal::train {
namespace {

using Ids = std::vector<std::int64_t>;

Ids sorted(Ids ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

Ids first_numbers(std::size_t count) {
  Ids ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(static_cast<std::int64_t>(i));
  return ids;
}

TEST(EpochOrder, HasEveryIdOnce) {
  for (const std::size_t samples : {0U, 1U, 2U, 10U, 103U, 1000U})
    EXPECT_EQ(sorted(epoch_order(5, 0, samples)), first_numbers(samples));
}

TEST(EpochOrder, DependsOnSeedAndEpoch) {
  EXPECT_EQ(epoch_order(1, 2, 100), epoch_order(1, 2, 100));
  EXPECT_NE(epoch_order(1, 2, 100), epoch_order(1, 3, 100));
  EXPECT_NE(epoch_order(1, 2, 100), epoch_order(2, 2, 100));
}

TEST(EpochOrder, IsFisherYatesFromTheEnd) {
  // With so few samples no draw is refused (that happens to one of 2^60 or so), so draw i is word i modulo the
  // number of places left.
  const CounterGenerator generator(9, Purpose::order, 4);
  Ids expected = first_numbers(7);
  for (std::size_t last = 7, draw = 0; last > 1; --last, ++draw)
    std::swap(expected[last - 1], expected[generator.word(draw) % last]);
  EXPECT_EQ(epoch_order(9, 4, 7), expected);
}

TEST(EpochOrder, GivesEveryPermutationItsShare) {
  std::map<Ids, int> counts;
  constexpr int kEpochs = 24'000;
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) ++counts[epoch_order(11, epoch, 4)];
  EXPECT_EQ(counts.size(), 24U);
  double chi_squared = 0.0;
  for (const auto& [order, count] : counts) chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_squared, 49.7);  // 23 degrees of freedom: exceeded once in a thousand seeds.
}

TEST(SampleStream, EachEpochHasEveryIdOnceInAnOrderOfItsOwn) {
  SampleStream stream(3, 103, 10);
  std::set<Ids> orders;
  for (int epoch = 0; epoch < 5; ++epoch) {
    Ids ids;
    for (int batch = 0; batch < 11; ++batch) {
      const auto next = stream.next();
      EXPECT_EQ(next.size(), batch < 10 ? 10U : 3U);  // The last batch is short, and used.
      ids.insert(ids.end(), next.begin(), next.end());
    }
    EXPECT_EQ(sorted(ids), first_numbers(103));
    orders.insert(ids);
  }
  EXPECT_EQ(orders.size(), 5U);
}

TEST(SampleStream, ABatchLargerThanTheDataIsTheData) {
  SampleStream stream(3, 5, 100);
  EXPECT_EQ(stream.next().size(), 5U);
  EXPECT_EQ(stream.next().size(), 5U);
}

TEST(SampleStream, OfAPhaseGivesEachRankWhatThePlanGivesIt) {
  for (const int world : {1, 3, 8, 12}) {
    const auto ranks = static_cast<std::uint64_t>(world);
    for (const plan::Phase& phase : plan::benchmark_phases(ranks)) {
      SampleStream stream(phase, world);
      for (std::uint64_t update = 0; update < phase.updates; ++update) {
        const auto batch = stream.next();
        ASSERT_EQ(batch.size(), phase.global_batch);
        for (std::uint64_t rank = 0; rank < ranks; ++rank) {
          Ids own;
          for (std::uint64_t i = rank; i < batch.size(); i += ranks) own.push_back(batch[i]);
          EXPECT_EQ(own, plan::step_indices(phase, update, rank, ranks, 60000)) << phase.name << ' ' << update;
        }
      }
    }
  }
}

}  // namespace
}  // namespace shoal::train

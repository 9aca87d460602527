#include "train/rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace shoal::train {
namespace {

using Ids = std::vector<std::int64_t>;

/// Samples of given numbers of rows; a row weighs 1.
class RowsOnly : public Objective {
 public:
  explicit RowsOnly(std::vector<std::size_t> rows) : rows_(std::move(rows)) {}

  std::size_t rows(std::int64_t sample) const override { return rows_.at(static_cast<std::size_t>(sample)); }
  std::size_t most_rows() const override { return *std::max_element(rows_.begin(), rows_.end()); }
  double weight_of_row() const override { return 1.0; }
  void load(std::span<const std::int64_t>, std::span<float>) override {}
  double loss(std::span<const std::int64_t>, std::span<const float>, std::span<const float>,
              std::span<float>) override {
    return 0.0;
  }

 private:
  std::vector<std::size_t> rows_;
};

Ids first_numbers(std::size_t count) {
  Ids ids(count);
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  return ids;
}

Ids samples_of(const LanePart& part) { return {part.samples.begin(), part.samples.end()}; }

TEST(Rounds, LaneVHasTheSamplesVPlusMultiplesOfTheLanes) {
  const RowsOnly objective(std::vector<std::size_t>(11, 1));
  Rounds rounds(4, 1, 2, 11, std::nullopt, objective);  // Of 4 lanes and 2 ranks, rank 1 has lanes 1 and 3.
  rounds.cut(first_numbers(11));
  EXPECT_EQ(rounds.count(), 1U);
  EXPECT_EQ(rounds.rows_of_batch(), 11U);
  ASSERT_EQ(rounds.own_lanes(), 2U);
  const auto parts = rounds.parts(0);
  EXPECT_EQ(samples_of(parts[0]), (Ids{1, 5, 9}));
  EXPECT_EQ(samples_of(parts[1]), (Ids{3, 7}));
  EXPECT_EQ(parts[0].rows.first, 0U);
  EXPECT_EQ(parts[0].rows.rows, 3U);
  EXPECT_EQ(parts[1].rows.first, 3U);
  EXPECT_EQ(parts[1].rows.rows, 2U);
  EXPECT_EQ(rounds.most_rows(), 5U);
}

// One lane of lengths 5, 2, 0, 9, 2, 3: the shorter first, equal ones in the batch's order, what has no rows left out.
// With two examples at most and 8 tokens, padded: (2, 2), then 3 and 5 would be 10, so 3 alone, 5 alone, and 9 alone
// though it is longer than all that is allowed.
TEST(Rounds, WithLimitsALaneIsCutIntoMicrobatchesOfItsOwnLengths) {
  const RowsOnly objective({5, 2, 0, 9, 2, 3});
  Rounds rounds(1, 0, 1, 6, plan::MicrobatchLimits{.max_padded_tokens = 8, .max_examples = 2}, objective);
  rounds.cut(first_numbers(6));
  ASSERT_EQ(rounds.count(), 4U);
  EXPECT_EQ(samples_of(rounds.parts(0)[0]), (Ids{1, 4}));
  EXPECT_EQ(samples_of(rounds.parts(1)[0]), (Ids{5}));
  EXPECT_EQ(samples_of(rounds.parts(2)[0]), (Ids{0}));
  EXPECT_EQ(samples_of(rounds.parts(3)[0]), (Ids{3}));
  EXPECT_EQ(rounds.parts(0)[0].rows.rows, 4U);
  EXPECT_EQ(rounds.rows_of_batch(), 21U);
  EXPECT_EQ(rounds.most_rows(), 9U);
}

// Of one lane and one rank a round is a microbatch: the plan's, whatever the lengths, also over the limit.
TEST(Rounds, CutALaneAsThePlanDoes) {
  for (const std::uint64_t max_padded_tokens : {1U, 5U, 9U, 20U, 1000U}) {
    for (const std::uint64_t max_examples : {1U, 3U, 16U}) {
      const plan::MicrobatchLimits limits{.max_padded_tokens = max_padded_tokens, .max_examples = max_examples};
      std::vector<std::size_t> lengths;
      for (std::size_t i = 0; i < 40; ++i) lengths.push_back(1 + i * 7 % 11);
      const RowsOnly objective(lengths);
      Rounds rounds(1, 0, 1, 40, limits, objective);
      rounds.cut(first_numbers(40));
      std::vector<Ids> cut;
      for (std::size_t round = 0; round < rounds.count(); ++round) cut.push_back(samples_of(rounds.parts(round)[0]));
      std::vector<Ids> expected;
      for (const auto& batch : plan::microbatches(std::vector<std::uint64_t>(lengths.begin(), lengths.end()), limits))
        expected.emplace_back(batch.begin(), batch.end());
      EXPECT_EQ(cut, expected);
    }
  }
}

// B35: 4 ranks whose lanes would make 5, 4, 4 and 3 microbatches: all have 5 rounds, some of them empty.
TEST(Rounds, AreAsManyOnEveryRankAsTheLaneWithTheMostNeeds) {
  Ids batch;
  std::vector<std::size_t> lengths(20, 0);
  const std::vector<std::size_t> wanted{5, 4, 4, 3};
  for (std::size_t position = 0; position < 20; ++position) {
    const std::size_t lane = position % 4;
    lengths[position] = position / 4 < wanted[lane] ? 7 : 0;
    batch.push_back(static_cast<std::int64_t>(position));
  }
  const RowsOnly objective(lengths);
  std::map<std::int64_t, int> seen;
  for (int rank = 0; rank < 4; ++rank) {
    Rounds rounds(4, rank, 4, 20, plan::MicrobatchLimits{.max_padded_tokens = 7, .max_examples = 16}, objective);
    rounds.cut(batch);
    EXPECT_EQ(rounds.count(), 5U);
    std::size_t parts = 0;
    for (std::size_t round = 0; round < rounds.count(); ++round) {
      ASSERT_EQ(rounds.parts(round).size(), 1U);
      for (const std::int64_t sample : rounds.parts(round)[0].samples) ++seen[sample];
      if (!rounds.parts(round)[0].samples.empty()) ++parts;
    }
    EXPECT_EQ(parts, wanted[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(rounds.rows_of_batch(), 16U * 7);
  }
  EXPECT_EQ(seen.size(), 16U);
  for (const auto& [sample, times] : seen) EXPECT_EQ(times, 1);
}

// Any number of ranks, batches of any size, with and without limits: each sample with rows once, its rows one after
// the other, within the room, and every lane's cut the same whoever makes it.
TEST(Rounds, HaveEverySampleOnceInAnyWorldAndTheCutOfALaneIsTheSame) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 100; ++i) lengths.push_back(i * 7 % 11);
  const RowsOnly objective(lengths);
  for (const std::size_t size : {1U, 3U, 15U, 16U, 17U, 100U}) {
    for (const bool limited : {false, true}) {
      const auto limits =
          limited ? std::optional(plan::MicrobatchLimits{.max_padded_tokens = 20, .max_examples = 3}) : std::nullopt;
      std::map<std::pair<std::size_t, std::size_t>, Ids> by_lane_and_round;
      std::size_t rounds_alone = 0;
      for (const int ranks : {1, 2, 3, 8, 16}) {
        std::map<std::int64_t, int> seen;
        for (int rank = 0; rank < ranks; ++rank) {
          Rounds rounds(16, rank, ranks, 100, limits, objective);
          rounds.cut(first_numbers(100));  // What was there before must not matter.
          rounds.cut(first_numbers(size));
          if (ranks == 1) rounds_alone = rounds.count();
          EXPECT_EQ(rounds.count(), rounds_alone);
          for (std::size_t round = 0; round < rounds.count(); ++round) {
            std::size_t rows = 0;
            for (std::size_t lane = 0; lane < rounds.own_lanes(); ++lane) {
              const LanePart& part = rounds.parts(round)[lane];
              EXPECT_EQ(part.rows.first, rows);
              rows += part.rows.rows;
              std::size_t of_samples = 0;
              for (const std::int64_t sample : part.samples) {
                ++seen[sample];
                of_samples += objective.rows(sample);
              }
              EXPECT_EQ(part.rows.rows, of_samples);
              const std::size_t number = static_cast<std::size_t>(rank) + lane * static_cast<std::size_t>(ranks);
              const auto [place, is_new] = by_lane_and_round.try_emplace({number, round}, samples_of(part));
              EXPECT_EQ(place->second, samples_of(part)) << (is_new ? "new" : "old");
            }
            EXPECT_LE(rows, rounds.most_rows());
          }
        }
        for (std::size_t sample = 0; sample < size; ++sample)
          EXPECT_EQ(seen[static_cast<std::int64_t>(sample)], lengths[sample] > 0 ? 1 : 0);
      }
    }
  }
}

TEST(RoundCount, CountsRoundsAndTheStepsThatHaveAnyRows) {
  const SampleStream stream(0, 10, 5);
  const RowsOnly all_empty(std::vector<std::size_t>(10, 0));
  const RoundCount none = count_rounds(stream, 0, 4, 4, 5, std::nullopt, all_empty);
  EXPECT_EQ(none.rounds, 4U);
  EXPECT_EQ(none.updates, 0U);
  const RowsOnly one_each(std::vector<std::size_t>(10, 1));
  const RoundCount split = count_rounds(stream, 0, 4, 4, 2, std::nullopt, one_each);  // Fives are cut into 2, 2 and 1.
  EXPECT_EQ(split.rounds, 12U);
  EXPECT_EQ(split.updates, 4U);
}

/// The same, and says that it is.
class Uniform : public RowsOnly {
 public:
  using RowsOnly::RowsOnly;
  bool is_uniform() const override { return true; }
};

// By steps and by the form of an epoch, from anywhere to anywhere: 23 samples are windows of 10, 10 and 3, or one.
TEST(RoundCount, OfSamplesThatAreAlikeIsThatOfGoingThroughThem) {
  const RowsOnly one_each(std::vector<std::size_t>(23, 1));
  const Uniform uniform(std::vector<std::size_t>(23, 1));
  for (const std::size_t window : {10U, 23U, 1U, 12U}) {
    for (const auto& limits : {std::optional<plan::MicrobatchLimits>(), std::optional(plan::MicrobatchLimits{2, 16})}) {
      for (const std::uint64_t first : {0U, 1U, 2U, 3U, 5U}) {
        for (const std::uint64_t steps : {0U, 1U, 2U, 3U, 7U, 12U}) {
          const SampleStream stream(0, 23, window);
          const RoundCount expected = count_rounds(stream, first, steps, 2, 4, limits, one_each);
          const RoundCount count = count_rounds(stream, first, steps, 2, 4, limits, uniform);
          EXPECT_EQ(count.rounds, expected.rounds) << window << ' ' << first << ' ' << steps;
          EXPECT_EQ(count.updates, expected.updates);
        }
      }
    }
  }
  EXPECT_EQ(count_rounds(SampleStream(0, 23, 10), 0, 3'000'000'000'000, 2, 10, std::nullopt, uniform).rounds,
            3'000'000'000'000U);
}

}  // namespace
}  // namespace shoal::train

#include "selection.h"

#include <gtest/gtest.h>

#include <cmath>

#include "collective_checks.h"
#include "prediction.h"

namespace shoal::test {
namespace {

using detail::parse_algorithm_choices;
using detail::select;

const detail::AlgorithmChoices kNoChoices{};

std::string mistake_of(std::string_view text) { return parse_algorithm_choices(text).mistake; }

Algorithm chosen(Operation operation, std::uint64_t bytes, int ranks, std::optional<detail::Reduction> reduction = {},
                 const Calibration& machine = kReferenceCalibration) {
  return select(operation, Algorithm::automatic, reduction, kNoChoices,
                {.bytes = bytes, .ranks = ranks, .type = DataType::u8}, machine)
      .algorithm;
}

constexpr std::uint64_t kMebi = std::uint64_t{1} << 20;

TEST(Selection, HasRanksReadWhatOthersShowWhereTheyAreNotMany) {
  for (const int ranks : {2, 3, 4, 7, 8, 64}) {
    EXPECT_EQ(chosen(Operation::all_reduce, 120, ranks), Algorithm::slots);
    EXPECT_EQ(chosen(Operation::broadcast, 8, ranks), Algorithm::binomial);
    EXPECT_EQ(chosen(Operation::reduce, 8, ranks), Algorithm::binomial);
    for (const std::uint64_t bytes : {10'000 * kMebi, std::uint64_t{1} << 40}) {
      EXPECT_EQ(chosen(Operation::all_reduce, bytes, ranks), Algorithm::direct);
      if (ranks > 2) {
        EXPECT_EQ(chosen(Operation::reduce, bytes, ranks), Algorithm::direct);
        EXPECT_EQ(chosen(Operation::broadcast, bytes, ranks), Algorithm::direct);
      }
    }
    for (const std::uint64_t bytes : {std::uint64_t{10'000}, std::uint64_t{1} << 40})
      for (const Operation operation : {Operation::reduce_scatter, Operation::all_gather, Operation::all_to_all})
        EXPECT_EQ(chosen(operation, bytes, ranks), Algorithm::direct);
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1} << 40})
      for (const Operation operation : {Operation::gather, Operation::scatter, Operation::scatter_cyclic})
        EXPECT_EQ(chosen(operation, bytes, ranks), Algorithm::linear);
  }
}

TEST(Selection, TakesFewStepsForFewBytesAndFewBytesForManyWhereRanksAreMany) {
  for (const int ranks : {65, 100, 128}) {
    const bool power_of_two = ranks == 128;
    EXPECT_EQ(chosen(Operation::barrier, 0, ranks), Algorithm::dissemination);
    EXPECT_EQ(chosen(Operation::all_reduce, 1000, ranks), Algorithm::recursive_doubling);
    EXPECT_EQ(chosen(Operation::reduce, 1000, ranks), Algorithm::binomial);
    EXPECT_EQ(chosen(Operation::reduce_scatter, 1000, ranks), Algorithm::recursive_halving);
    EXPECT_EQ(chosen(Operation::all_gather, 1000, ranks),
              power_of_two ? Algorithm::recursive_doubling : Algorithm::bruck);
    EXPECT_EQ(chosen(Operation::broadcast, 1000, ranks), Algorithm::binomial);
    EXPECT_EQ(chosen(Operation::all_reduce, 1000 * kMebi, ranks), Algorithm::pairwise);
    EXPECT_EQ(chosen(Operation::reduce_scatter, 1000 * kMebi, ranks), Algorithm::pairwise);
    EXPECT_EQ(chosen(Operation::broadcast, 1000 * kMebi, ranks), Algorithm::pipelined);
    EXPECT_EQ(chosen(Operation::all_to_all, std::uint64_t{1} << 40, ranks), Algorithm::pairwise);
  }
}

/// The largest power of two of bytes, up to 1 GiB, at which the default is still `algorithm`; 0: none is.
std::uint64_t last_size(Operation operation, Algorithm algorithm, int ranks, const Calibration& machine) {
  std::uint64_t last = 0;
  for (std::uint64_t bytes = 8; bytes <= 1024 * kMebi; bytes *= 2)
    if (chosen(operation, bytes, ranks, {}, machine) == algorithm) last = bytes;
  return last;
}

TEST(Selection, SparesMeetingsWhereTheyCostMore) {
  Calibration near = kReferenceCalibration;
  near.hop_ns = 50;
  Calibration far = kReferenceCalibration;
  far.hop_ns = 5000;
  Calibration crowded = kReferenceCalibration;
  crowded.cores = 2;
  crowded.yield_ns = 1000;
  for (const int ranks : {3, 4, 8}) {
    // All read all, rather than meet once more for the results.
    const auto up_to = [&](const Calibration& machine) {
      return last_size(Operation::all_reduce, Algorithm::slots, ranks, machine);
    };
    EXPECT_LE(up_to(near), up_to(kReferenceCalibration));
    EXPECT_LT(up_to(near), up_to(far));
    EXPECT_LT(up_to(kReferenceCalibration), up_to(crowded));
    // A root that does not wait.
    const auto streams_up_to = [&](const Calibration& machine) {
      return last_size(Operation::broadcast, Algorithm::binomial, ranks, machine);
    };
    EXPECT_LT(streams_up_to(near), streams_up_to(far));
    EXPECT_LE(streams_up_to(kReferenceCalibration), streams_up_to(crowded));
  }
}

TEST(Selection, CopiesLessWhereCopiesCostMore) {
  Calibration slow = kReferenceCalibration;
  slow.cached_bytes_per_ns /= 50;
  slow.uncached_bytes_per_ns /= 50;
  for (const int ranks : {3, 4, 8, 64}) {
    EXPECT_LE(last_size(Operation::all_reduce, Algorithm::slots, ranks, slow),
              last_size(Operation::all_reduce, Algorithm::slots, ranks, kReferenceCalibration));
    EXPECT_EQ(chosen(Operation::all_reduce, 16384, ranks, {}, slow), Algorithm::direct);
  }
  EXPECT_EQ(chosen(Operation::all_reduce, 1024, 65, {}, kReferenceCalibration), Algorithm::recursive_doubling);
  EXPECT_NE(chosen(Operation::all_reduce, 1024, 65, {}, slow), Algorithm::recursive_doubling);
}

TEST(Selection, KnowsNoSizeRanksOrMachineThatItHasNoAnswerFor) {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    Calibration machine = kReferenceCalibration;
    machine.hop_ns *= scale;
    machine.yield_ns = 1e6;
    machine.cores = 1;
    for (const Operation operation :
         {Operation::barrier, Operation::broadcast, Operation::reduce, Operation::all_reduce, Operation::reduce_scatter,
          Operation::all_gather, Operation::all_to_all}) {
      for (const int ranks : {1, 2, 3, 64, 65, 4096}) {
        for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, kMebi, std::uint64_t{1} << 45}) {
          const Algorithm algorithm = chosen(operation, bytes, ranks, {}, machine);
          EXPECT_EQ(select(operation, algorithm, {}, kNoChoices, {.bytes = bytes, .ranks = ranks}, machine).mistake,
                    "");
          EXPECT_EQ(chosen(operation, bytes, ranks, {}, machine), algorithm);
          for (const auto& [candidate, ns] :
               detail::candidates(operation, {}, {.bytes = bytes, .ranks = ranks}, machine)) {
            EXPECT_TRUE(std::isfinite(ns) && ns >= 0) << name(operation) << ' ' << name(candidate);
            EXPECT_TRUE(candidate != Algorithm::ring || operation == Operation::all_gather);
          }
        }
      }
    }
  }
}

TEST(Selection, PredictsMoreTimeForMoreBytesAndForMoreRanks) {
  Calibration crowded = kReferenceCalibration;
  crowded.cores = 2;
  crowded.yield_ns = 700;
  for (const Calibration& machine : {kReferenceCalibration, crowded}) {
    for (const Operation operation : {Operation::broadcast, Operation::reduce, Operation::all_reduce,
                                      Operation::reduce_scatter, Operation::all_gather, Operation::all_to_all}) {
      for (const Algorithm algorithm : detail::algorithms_of(operation)) {
        if (algorithm == Algorithm::tiny) continue;
        const auto predicted = [&](std::uint64_t count, int ranks) {
          return detail::predicted_ns(
              {.operation = operation, .algorithm = algorithm, .count = count, .ranks = ranks, .calibration = machine});
        };
        for (std::uint64_t count = 1024; count <= 64 * kMebi; count *= 4) {
          for (const int ranks : {2, 4, 8, 16}) {
            EXPECT_LT(predicted(count, ranks), predicted(4 * count, ranks))
                << name(operation) << ' ' << name(algorithm);
          }
        }
        for (const int ranks : {2, 4, 8}) EXPECT_LE(predicted(8, ranks), predicted(8, 2 * ranks));
      }
    }
  }
}

TEST(Selection, LetsWhatRidesInALineRideInALine) {
  for (const int ranks : {1, 2, 5, 64, 65}) {
    const auto expect = [&](Operation operation, std::uint64_t bytes, bool tiny) {
      EXPECT_EQ(chosen(operation, bytes, ranks) == Algorithm::tiny, tiny && ranks <= 64)
          << name(operation) << ", " << bytes << " bytes, " << ranks << " ranks";
    };
    expect(Operation::barrier, 0, true);
    for (const Operation operation : {Operation::all_reduce, Operation::reduce_scatter, Operation::all_to_all}) {
      expect(operation, 0, true);
      expect(operation, 112, true);
      expect(operation, 113, false);
    }
    const auto p = static_cast<std::uint64_t>(ranks);
    expect(Operation::all_gather, 112 * p, true);  // Chunks of 112 bytes.
    expect(Operation::all_gather, 112 * p + 1, false);
    expect(Operation::reduce, 8, false);  // What has a root does not await everybody.
    expect(Operation::broadcast, 8, false);
  }
}

TEST(Selection, RefusesMoreThanALineByName) {
  const auto mistake = [](Operation operation, std::uint64_t bytes) {
    return select(operation, Algorithm::tiny, std::nullopt, kNoChoices,
                  {.bytes = bytes, .ranks = 3, .type = DataType::f64})
        .mistake;
  };
  EXPECT_EQ(mistake(Operation::all_reduce, 112), "");
  EXPECT_EQ(mistake(Operation::all_reduce, 120), "algorithm tiny takes at most 112 bytes of a rank, not 120");
  EXPECT_EQ(mistake(Operation::all_gather, 336), "");  // 14 elements each.
  EXPECT_EQ(mistake(Operation::all_gather, 344), "algorithm tiny takes at most 112 bytes of a rank, not 120");
}

TEST(Selection, SumsInOnePlaceWhatTheTypeCannotHold) {
  for (const Operation operation : {Operation::all_reduce, Operation::reduce, Operation::reduce_scatter}) {
    for (const auto& [op, type] : {std::pair{ReduceOp::mean, DataType::i32}, std::pair{ReduceOp::mean, DataType::u64},
                                   std::pair{ReduceOp::sum, DataType::bf16}, std::pair{ReduceOp::prod, DataType::f16}})
      EXPECT_EQ(chosen(operation, 1000, 128, detail::Reduction{.op = op, .type = type}), Algorithm::pairwise);
    for (const auto& [op, type] : {std::pair{ReduceOp::sum, DataType::i32}, std::pair{ReduceOp::mean, DataType::f32},
                                   std::pair{ReduceOp::max, DataType::bf16}})
      EXPECT_NE(chosen(operation, 1000, 128, detail::Reduction{.op = op, .type = type}), Algorithm::pairwise);
  }
}

TEST(Selection, TheCallersWordStandsAboveTheEnvironments) {
  const auto choices = parse_algorithm_choices("all_reduce:ring,broadcast:binomial");
  EXPECT_EQ(choices.mistake, "");
  EXPECT_EQ(select(Operation::all_reduce, Algorithm::automatic, std::nullopt, choices).algorithm, Algorithm::ring);
  EXPECT_EQ(select(Operation::all_reduce, Algorithm::pairwise, std::nullopt, choices).algorithm, Algorithm::pairwise);
  EXPECT_EQ(select(Operation::reduce, Algorithm::automatic, std::nullopt, choices).algorithm, Algorithm::binomial);
}

TEST(Selection, RefusesAnAlgorithmThatCannotDoTheOperationAndSaysWhoAskedForIt) {
  EXPECT_EQ(select(Operation::broadcast, Algorithm::ring, std::nullopt, kNoChoices).mistake,
            "algorithm ring is not one of: binomial, pipelined, direct");
  EXPECT_EQ(
      select(Operation::all_reduce, Algorithm::bruck, std::nullopt, kNoChoices).mistake,
      "algorithm bruck is not one of: pairwise, recursive_doubling, recursive_halving, binomial, tiny, slots, direct, "
      "ring");
  EXPECT_EQ(select(Operation::broadcast, Algorithm::automatic, std::nullopt, parse_algorithm_choices("broadcast:ring"))
                .mistake,
            "algorithm ring (of SHOAL_ALGORITHM) is not one of: binomial, pipelined, direct");
}

TEST(Selection, RefusesIntegerMeansThatWouldTravelNarrow) {
  const auto mistake = [](Algorithm algorithm, ReduceOp op, DataType type) {
    return select(Operation::all_reduce, algorithm, detail::Reduction{.op = op, .type = type}, kNoChoices).mistake;
  };
  EXPECT_EQ(mistake(Algorithm::ring, ReduceOp::mean, DataType::i32),
            "algorithm ring cannot form the mean of i32, which needs a wider sum than travels; pairwise can");
  EXPECT_EQ(mistake(Algorithm::ring, ReduceOp::sum, DataType::i32), "");
  EXPECT_EQ(mistake(Algorithm::ring, ReduceOp::mean, DataType::f32), "");
  EXPECT_EQ(mistake(Algorithm::automatic, ReduceOp::mean, DataType::i32), "");
}

TEST(AlgorithmChoices, NameTheirMistake) {
  EXPECT_EQ(mistake_of(""), "");
  EXPECT_EQ(mistake_of("all_reduce:ring"), "");
  EXPECT_EQ(mistake_of("all_reduce:auto"), "");
  EXPECT_EQ(mistake_of("all_reduce:ring,all_reduce:ring"), "");
  EXPECT_EQ(mistake_of("all_reduce"), "SHOAL_ALGORITHM: \"all_reduce\" is not operation:algorithm");
  EXPECT_EQ(mistake_of("allreduce:ring"), "SHOAL_ALGORITHM: \"allreduce\" is not an operation");
  EXPECT_EQ(mistake_of("all_reduce:rign"), "SHOAL_ALGORITHM: \"rign\" is not an algorithm");
  EXPECT_EQ(mistake_of("broadcast:binomial,all_reduce:"), "SHOAL_ALGORITHM: \"\" is not an algorithm");
  EXPECT_EQ(mistake_of("broadcast:binomial,,all_reduce:ring"), "SHOAL_ALGORITHM: \"\" is not operation:algorithm");
  EXPECT_EQ(mistake_of("all_reduce:ring,"), "SHOAL_ALGORITHM: \"\" is not operation:algorithm");
  EXPECT_EQ(mistake_of("all_reduce:ring,all_reduce:pairwise"), "SHOAL_ALGORITHM: two algorithms for all_reduce");
  EXPECT_EQ(mistake_of(" all_reduce:ring"), "SHOAL_ALGORITHM: \" all_reduce\" is not an operation");
  EXPECT_EQ(mistake_of("send:ring"), "SHOAL_ALGORITHM: send has no algorithms to choose from");
}

}  // namespace
}  // namespace shoal::test

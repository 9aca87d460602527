// What is particular to the types: 16-bit floating point (B20), bool, and integers that wrap (B19).

#include "mismatches.h"
#include "reduction_forms.h"
#include "refusals.h"

namespace shoal::test {
namespace {

template <class T>
void expect_sum_of_four(Communicator& comm, std::array<float, 4> values, ReduceOp op, float expected) {
  const T mine = nearest<T>(values[static_cast<std::size_t>(comm.rank())]);
  for (const std::size_t count : {1U, 5U, 4000U, 70'000U}) {
    SCOPED_TRACE(case_text(count, kDataType<T>, op));
    const std::vector<T> in(count, mine);
    auto all = in;
    all_reduce(comm, all, op);
    EXPECT_TRUE(same_bits(std::vector<T>(count, nearest<T>(expected)), all));
    auto data = in;
    const auto own = reduce_scatter(comm, data, op);
    for (const T value : own) ASSERT_EQ(wide(value), expected);
    std::vector<T> at_root(comm.rank() == 2 ? count : 0);
    reduce(comm, in, at_root, op, 2);
    for (const T value : at_root) ASSERT_EQ(wide(value), expected);
  }
}

TEST(HalfSums, AreRoundedOnceWhateverTheOperationAndTheCount) {
  const auto body = [](Communicator& comm) {
    expect_sum_of_four<bf16>(comm, {256, 1, 1, 1}, ReduceOp::sum, 260);                  // Rounded at each step: 256.
    expect_sum_of_four<f16>(comm, {2048, 1, 1, 1}, ReduceOp::sum, 2052);                 // 2048
    expect_sum_of_four<f16>(comm, {65504, 65504, 65504, 65504}, ReduceOp::mean, 65504);  // Infinity
    expect_sum_of_four<bf16>(comm, {256, 1, 1, 6}, ReduceOp::mean, 66);
    expect_sum_of_four<f16>(comm, {60000, 0.5F, 1000, 0}, ReduceOp::prod, 0);  // NaN
    expect_sum_of_four<bf16>(comm, {256, -1, 1, 3}, ReduceOp::min, -1);
    expect_sum_of_four<f16>(comm, {-256, -1, -2, -3}, ReduceOp::max, -1);
  };
  const auto ranks = run_ranks(4, body);
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(HalfSums, ByAlgorithmsThatPassPartialSumsOnAreRefusedByName) {
  const auto ring_on_one = [](Communicator& comm) {
    return Options{.algorithm = comm.rank() == 1 ? Algorithm::ring : Algorithm::pairwise};
  };
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::prod}) {
    const std::string what = std::string(name(op)) + " of bf16, which needs a wider " +
                             (op == ReduceOp::prod ? "product" : "sum") + " than travels; pairwise can";
    expect_refused(2, 1, "all_reduce: algorithm ring cannot form the " + what, [&](Communicator& comm) {
      std::vector<bf16> data(3);
      all_reduce(comm, data, op, ring_on_one(comm));
    });
    expect_refused(2, 1, "reduce_scatter: algorithm ring cannot form the " + what, [&](Communicator& comm) {
      std::vector<bf16> data(4);
      reduce_scatter(comm, data, op, ring_on_one(comm));
    });
  }
}

TEST(HalfExtremes, RoundNothingAndMayTakeTheRing) {
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    for_each_type(Types<bf16, f16>{}, [&]<class T>() {
      for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
        auto data = values_of<T>(comm.rank(), 100);
        all_reduce(comm, data, op, {.algorithm = Algorithm::ring});
        EXPECT_TRUE(same_bits(reduced_values<T>(op, 3, 100), data));
      }
    });
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Bools, MoveAndCombineAsBits) {
  // Ranks 0, 1, 2 have {1,1,0,0}, {1,0,1,0}, {1,0,0,0}.
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    const std::array<std::array<bool, 4>, 3> rows{
        {{true, true, false, false}, {true, false, true, false}, {true, false, false, false}}};
    const auto& mine = rows[static_cast<std::size_t>(comm.rank())];
    const std::array<bool, 4> all{true, false, false, false};
    const std::array<bool, 4> any{true, true, true, false};
    const std::array<bool, 4> odd{true, true, true, false};
    for (const auto& [op, expected] : std::map<ReduceOp, std::array<bool, 4>>{{ReduceOp::band, all},
                                                                              {ReduceOp::min, all},
                                                                              {ReduceOp::bor, any},
                                                                              {ReduceOp::max, any},
                                                                              {ReduceOp::bxor, odd}}) {
      for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::pairwise, Algorithm::ring}) {
        auto data = mine;
        all_reduce(comm, data, op, {.algorithm = algorithm});
        EXPECT_EQ(data, expected) << name(op);
      }
    }
    auto data = mine;
    broadcast(comm, data, 1);
    EXPECT_EQ(data, rows[1]);
    std::array<bool, 12> gathered{};
    all_gather(comm, mine, gathered);
    for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(gathered[i], rows[i / 4][i % 4]) << i;
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Bools, HaveNoSums) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::prod}) {
    expect_refused(2, 1, "all_reduce: reduction " + std::string(name(op)) + " is not defined for bool",
                   [&](Communicator& comm) {
                     std::array<bool, 3> data{};
                     all_reduce(comm, data, comm.rank() == 1 ? op : ReduceOp::bor);
                   });
  }
}

TEST(Bools, AreNotTakenForIntegersOfTheirSize) {
  expect_mismatch(2, {"broadcast (", "bool", "u8"}, [](Communicator& comm) {
    std::array<bool, 3> bools{};
    std::array<std::uint8_t, 3> integers{};
    comm.rank() == 0 ? broadcast(comm, bools) : broadcast(comm, integers);
  });
}

TEST(IntegerMeans, OfTheGreatestAreThemselvesAndSumsWrap) {
  const auto ranks = run_ranks(2, [](Communicator& comm) {
    for_each_type(IntegerTypes{}, [&]<class T>() {
      for (const T value : {std::numeric_limits<T>::max(), std::numeric_limits<T>::min()}) {
        std::vector<T> data(5, value);
        all_reduce(comm, data, ReduceOp::mean);
        EXPECT_EQ(data, std::vector<T>(5, value)) << name(kDataType<T>);
        all_reduce(comm, data, ReduceOp::sum);  // Twice the greatest is -2, or the greatest but one; of the least, 0.
        const T expected = value == std::numeric_limits<T>::max() ? static_cast<T>(-2) : T{0};
        EXPECT_EQ(data, std::vector<T>(5, expected)) << name(kDataType<T>);
      }
    });
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test

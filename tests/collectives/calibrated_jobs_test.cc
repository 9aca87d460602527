// How a job comes by the figures that its algorithms are chosen by: rank 0 provides them in its first call, whichever
// that is, and the others wait for it as they wait for anything.

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "calibration_file.h"
#include "collective_checks.h"
#include "shoal/runtime/cores.h"
#include "support/temporary_folder.h"

namespace shoal::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Calibration kSlowHops{.hop_ns = 50'000,
                                .cached_bytes_per_ns = 20,
                                .uncached_bytes_per_ns = 8,
                                .yield_ns = 0,
                                .cores = 64,
                                .cache_bytes = 1 << 20};

/// As rank `rank` of `ranks` would find it, if it were rank 0.
void keep(const std::filesystem::path& cache, int ranks, const Calibration& calibration) {
  const std::string key = detail::calibration_key(ranks, allowed_cores().count());
  ASSERT_TRUE(detail::store_calibration(detail::calibration_file(cache / "shoal", key), key, calibration));
}

std::array<double, 6> figures_of(Communicator& comm) {
  const Calibration figures = comm.calibration();
  return {figures.hop_ns,   figures.cached_bytes_per_ns,        figures.uncached_bytes_per_ns,
          figures.yield_ns, static_cast<double>(figures.cores), static_cast<double>(figures.cache_bytes)};
}

/// All ranks have the same ones.
void expect_alike(Communicator& comm) {
  const auto own = figures_of(comm);
  std::vector<double> all(own.size() * static_cast<std::size_t>(comm.size()));
  all_gather(comm, own, all, {.algorithm = Algorithm::ring});
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], own[i % own.size()]);
}

class CalibratedJob : public testing::Test {
 protected:
  CalibratedJob() { ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
  ~CalibratedJob() override { ::unsetenv("XDG_CACHE_HOME"); }
  std::size_t files() const {
    std::error_code none;
    const std::filesystem::directory_iterator kept(folder_.path() / "shoal", none);
    return none ? 0 : static_cast<std::size_t>(std::distance(kept, std::filesystem::directory_iterator()));
  }
  TemporaryFolder folder_;
};

TEST_F(CalibratedJob, MeasuresOnceAndKeepsWhatItMeasured) {
  for (int job = 0; job < 2; ++job) {
    const auto ranks = run_ranks(3, [](Communicator& comm) {
      barrier(comm);
      expect_alike(comm);
    });
    EXPECT_TRUE(ranks.all_passed()) << ranks;
    EXPECT_EQ(files(), 1U);
  }
}

TEST_F(CalibratedJob, HasTheFiguresOfRank0ThoughOthersWouldFindDifferentOnes) {
  const auto ranks = run_ranks(3, [&](Communicator& comm) {
    const auto own = folder_.path() / std::to_string(comm.rank());
    Calibration figures = kSlowHops;
    figures.hop_ns += comm.rank();
    keep(own, 3, figures);
    ::setenv("XDG_CACHE_HOME", own.c_str(), 1);
    std::vector<float> data(1000, 1.0F);
    all_reduce(comm, data, ReduceOp::sum);
    EXPECT_EQ(data[999], 3.0F);
    EXPECT_EQ(comm.calibration(), kSlowHops);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_F(CalibratedJob, ChoosesByTheFiguresThatWereKept) {
  // One hop, or four: all read all of 16 KiB rather than meet once more.
  keep(folder_.path(), 2, kSlowHops);
  const auto ranks = run_ranks(2, [](Communicator& comm) {
    std::vector<float> data(16384, 1.0F);
    all_reduce(comm, data, ReduceOp::sum);
    EXPECT_EQ(comm.traffic().by_algorithm.count("all_reduce:slots"), 1U);
    const Cost predicted = cost({.operation = Operation::all_reduce,
                                 .count = data.size(),
                                 .ranks = 2,
                                 .rank = comm.rank(),
                                 .calibration = comm.calibration()});
    EXPECT_EQ(comm.traffic().sent, predicted.sent);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_F(CalibratedJob, WorksWhereNothingCanBeKept) {
  std::ofstream(folder_.path() / "shoal") << "a file, where a folder should be";
  const auto without_folder = run_ranks(2, expect_alike);
  EXPECT_TRUE(without_folder.all_passed()) << without_folder;
  const auto without_home = run_ranks(2, [](Communicator& comm) {
    ::unsetenv("XDG_CACHE_HOME");
    ::unsetenv("HOME");
    barrier(comm);
    expect_alike(comm);
  });
  EXPECT_TRUE(without_home.all_passed()) << without_home;
}

TEST_F(CalibratedJob, OfOneRankNeedsNone) {
  const auto ranks = run_ranks(1, [](Communicator& comm) {
    barrier(comm);
    EXPECT_EQ(comm.calibration(), kReferenceCalibration);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
  EXPECT_EQ(files(), 0U);
}

TEST_F(CalibratedJob, ChoosesInCommunicatorsWithoutRank0) {
  const auto ranks = run_ranks(5, [](Communicator& comm) {
    Communicator part = comm.split(comm.rank() == 0 ? 0 : 1);
    std::vector<float> data(5000, 1.0F);
    all_reduce(part, data, ReduceOp::sum);
    EXPECT_EQ(data[4999], comm.rank() == 0 ? 1.0F : 4.0F);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_F(CalibratedJob, ProvidesThemAlsoInACallThatNeedsNone) {
  for (const int first : {0, 1, 2}) {
    const auto ranks = run_ranks(2, [&](Communicator& comm) {
      std::array<float, 4> data{1, 2, 3, 4};
      if (first == 0) comm.rank() == 0 ? send(comm, data, 1) : recv(comm, data, 0);
      if (first == 1) broadcast(comm, data, 0, {.algorithm = Algorithm::binomial});
      if (first == 2)
        gather(comm, std::array<float, 2>{5, 6}, comm.rank() == 0 ? std::span(data) : std::span<float>(), 0);
      if (comm.rank() == 1) (void)comm.calibration();  // Comes back, though rank 0 makes no other call.
    });
    EXPECT_TRUE(ranks.all_passed()) << ranks;
  }
}

/// What becomes of the others' automatic call, where rank 0 does `instead`.
std::string errors_where_rank_0(const std::function<void(Communicator&)>& instead) {
  const auto result = launch(3, [&](Session& session) {
    Communicator& comm = session.world();
    if (comm.rank() == 0) return instead(comm);
    std::vector<float> data(5000, 1.0F);
    all_reduce(comm, data, ReduceOp::sum);
  });
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.ranks[1].error, "");
  EXPECT_NE(result.ranks[2].error, "");
  return result.ranks[1].error + '\n' + result.ranks[2].error;
}

TEST_F(CalibratedJob, TellsTheOthersOfARank0ThatIsKilledBefore) {
  EXPECT_THAT(errors_where_rank_0([](Communicator&) { std::raise(SIGKILL); }), HasSubstr("peer 0 lost in all_reduce"));
}

TEST_F(CalibratedJob, TellsTheOthersOfARank0ThatLeavesBefore) {
  EXPECT_THAT(errors_where_rank_0([](Communicator&) {}), HasSubstr("peer 0 lost in all_reduce"));
}

TEST_F(CalibratedJob, TellsTheOthersOfARank0WhoseCallIsRefused) {
  EXPECT_THAT(errors_where_rank_0([](Communicator& comm) {
                std::array<float, 1> data{};
                broadcast(comm, data, 7);
              }),
              AnyOf(HasSubstr("root 7"), HasSubstr("peer 0 lost")));  // Whichever they hear of first.
}

TEST_F(CalibratedJob, TellsAllOfCallsThatDoNotFitThatOfRank0) {
  const std::vector<std::function<void(Communicator&)>> unfitting{
      [](Communicator& comm) {
        std::vector<float> data(5000, 1.0F);
        all_reduce(comm, data, ReduceOp::sum, {.algorithm = Algorithm::ring});
      },
      [](Communicator& comm) { barrier(comm, {.algorithm = Algorithm::dissemination}); },
      [](Communicator& comm) { (void)comm.split(0); },
      [](Communicator& comm) {
        std::array<float, 1> data{};
        recv(comm, data, 1);
      }};
  for (const auto& call : unfitting) {
    const auto ranks = run_ranks(3, [&](Communicator& comm) {
      const auto own = [](Communicator& other) {
        std::vector<float> data(5000, 1.0F);
        all_reduce(other, data, ReduceOp::sum);
      };
      try {
        comm.rank() == 0 ? call(comm) : own(comm);
        barrier(comm);
        ADD_FAILURE() << "rank " << comm.rank() << " found nothing";
      } catch (const Error& error) {
        EXPECT_EQ(name(error.code()), "mismatch") << error.what();
      }
    });
    EXPECT_TRUE(ranks.checks_passed()) << ranks;
  }
}

TEST_F(CalibratedJob, WaitsNoLongerThanTheCallMay) {
  std::array<int, 2> over{};
  ASSERT_EQ(pipe(over.data()), 0);
  const auto ranks = run_ranks(2, [&](Communicator& comm) {
    char byte = 0;
    if (comm.rank() == 0) {
      ASSERT_EQ(read(over[0], &byte, 1), 1);  // In no call, until the other has given up.
      return;
    }
    std::vector<float> data(5000, 1.0F);
    try {
      all_reduce(comm, data, ReduceOp::sum, {.timeout = std::chrono::milliseconds(50)});
      ADD_FAILURE() << "not late";
    } catch (const Error& error) {
      EXPECT_EQ(name(error.code()), "timeout") << error.what();
      EXPECT_THAT(error.what(), HasSubstr("all_reduce"));
    }
    ASSERT_EQ(write(over[1], &byte, 1), 1);
  });
  EXPECT_TRUE(ranks.checks_passed()) << ranks;
  close(over[0]);
  close(over[1]);
}

}  // namespace
}  // namespace shoal::test

// The whole matrix: every ending, in every moment, of every rank, in worlds of 2, 3, 4 and 8; and many in a row.
#include "fault/fault_matrix.h"

namespace shoal::test {
namespace {

std::vector<std::string> all_moments() {
  std::vector<std::string> moments = kMomentsBetween;
  for (const std::string& operation : kOperations) moments.push_back("in " + operation);
  return moments;
}

TEST(FaultMatrix, EveryEndingInEveryMomentOfEveryRankNamesTheCulpritAndLeavesNothing) {
  const auto before = shared_memory_objects();
  for (const int ranks : {2, 3, 4, 8})
    for (int victim = 0; victim < ranks; ++victim)
      for (const std::string& moment : all_moments())
        for (const Ending& ending : kEndings)
          if (is_a_fault(moment, ending)) expect_ending(moment, ranks, victim, ending);
  EXPECT_EQ(shared_memory_objects(), before);
}

TEST(FaultMatrix, EveryRankThatIsStoppedWhereOthersWaitForItIsNamed) {
  const auto before = shared_memory_objects();
  for (const int ranks : {2, 3, 4, 8})
    for (int victim = 0; victim < ranks; ++victim)
      for (const std::string& moment : all_moments()) expect_stall(moment, ranks, victim, "300ms");
  EXPECT_EQ(shared_memory_objects(), before);
}

TEST(FaultMatrix, EveryRankForWhichTheTimeOfOthersPassesIsNamed) {
  for (const int ranks : {2, 3, 4, 8})
    for (int victim = 0; victim < ranks; ++victim)
      for (const std::string moment : {"in barrier", "in all_reduce", "in gather"})
        expect_timeout(moment, ranks, victim, "stop", "2s");
}

TEST(FaultMatrix, TheStatusOfARankIsThatOfTheJobAtEachOfTwoThousandRuns) {
  for (int run = 0; run < 2000; ++run) {
    const JobEnd end = run_job({"-n", "2", "sh", "-c", "test $RANK = 1 && exit 3; exec sleep 1000"});
    ASSERT_EQ(end.exit_code, 3) << run << ": " << end.err;
  }
}

TEST(FaultMatrix, TheStatusOfARankIsThatOfTheJobAtEachOfFiveHundredRunsInWhichOthersAreInABarrier) {
  for (int run = 0; run < 500; ++run) {
    const JobEnd end = start_job("in barrier", 4, 2, "exit:3").wait();
    ASSERT_EQ(end.exit_code, 3) << run << ": " << end.err;
  }
}

TEST(FaultMatrix, TheLauncherSurvivesWhateverARankWritesOverTheJobsMemory) {
  for (std::uint64_t seed = 100; seed < 200; ++seed) expect_survival(seed);
}

TEST(FaultMatrix, TenThousandBarriersAreMadeByAnyNumberOfRanksOnFewCores) {
  for (int world = 2; world <= 16; ++world)
    EXPECT_EQ(start_job("barriers", world, 10'000, "-").wait().exit_code, 0) << world;
}

TEST(FaultMatrix, AThousandMixedEndingsLeaveNothing) {
  const auto before = shared_memory_objects();
  const auto moments = all_moments();
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::string& moment = moments[i % moments.size()];
    const Ending& ending = kEndings[i / 3 % kEndings.size()];
    const int ranks = 2 + static_cast<int>(i % 3);
    RunningJob job = start_job(moment, ranks, static_cast<int>(i) % ranks, ending.action);
    if (i % 7 == 0) job.signal(SIGTERM);
    if (i % 13 == 0) job.signal(SIGINT);
    if (i % 11 == 0) job.signal(SIGKILL);
    job.wait();
    ASSERT_THAT(job.left_behind(), testing::IsEmpty()) << i;
  }
  EXPECT_EQ(shared_memory_objects(), before);
}

}  // namespace
}  // namespace shoal::test

// A part of the matrix that has every ending in every moment, with worlds and victims in turn; all of it is in
// fault_long_test.cc.
#include "fault/fault_matrix.h"

namespace shoal::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Fault : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(shared_memory_objects(), before_); }

  // Worlds of 2, 3, 4 and 8, each with another victim each time.
  void next() {
    constexpr std::array<int, 4> kWorlds{2, 3, 4, 8};
    ranks = kWorlds[turn_ % kWorlds.size()];
    victim = static_cast<int>(turn_ / kWorlds.size() + turn_) % ranks;
    ++turn_;
  }
  int ranks = 2;
  int victim = 0;

 private:
  unsigned turn_ = 0;
  std::set<std::string> before_ = shared_memory_objects();
};

TEST_F(Fault, BeforeTheSessionBetweenCallsAndAfterTheSessionNamesTheCulprit) {
  for (const Ending& ending : kEndings) {
    for (const std::string& moment : kMomentsBetween) {
      if (!is_a_fault(moment, ending)) continue;
      next();
      expect_ending(moment, ranks, victim, ending);
    }
  }
}

TEST_F(Fault, InEachCollectiveNamesTheCulpritAndItsCall) {
  for (const std::string& operation : kOperations) {
    for (const Ending& ending : kEndings) {
      next();
      expect_ending("in " + operation, ranks, victim, ending);
    }
  }
}

TEST_F(Fault, ThatStopsARankIsAStallWhichNamesIt) {
  for (const std::string moment :
       {"before", "between", "in barrier", "in all_reduce", "in all_to_all_v", "last", "end"}) {
    next();
    expect_stall(moment, ranks, victim, "1s");
  }
}

TEST_F(Fault, ForWhichTheTimeOfOthersPassesIsNamedAndNotThoseWhoseTimeItWas) {
  for (const std::string moment : {"in barrier", "in all_reduce", "in gather", "in all_to_all_v", "between"}) {
    for (const std::string action : {"stop", "sleep:10m"}) {
      if (moment == "between" && action != "stop") continue;
      next();
      expect_timeout(moment, ranks, victim, action, "2s");
    }
  }
}

TEST_F(Fault, OfARankThatWritesOverTheJobsMemoryIsNoneOfTheLaunchers) {
  for (std::uint64_t seed = 0; seed < 9; ++seed) expect_survival(seed);
}

TEST_F(Fault, WithoutOneBarriersAreMadeByAnyNumberOfRanksOnFewCores) {
  for (int world = 2; world <= 16; ++world)
    EXPECT_EQ(start_job("barriers", world, 500, "-").wait().exit_code, 0) << world;
}

TEST_F(Fault, ThatOnlyDelaysARankIsNone) {
  const JobEnd end = start_job("in gather", 3, 1, "sleep:300ms").wait();
  EXPECT_EQ(end.exit_code, 0) << end.err;
}

TEST_F(Fault, WithoutOneTheJobIsAGoodOne) {
  for (const int world : {1, 2, 3, 4, 8}) EXPECT_EQ(start_job("nowhere", world, 0, "-").wait().exit_code, 0);
}

TEST_F(Fault, CountsCallsOfEveryOperationIfAnyIsAsked) {
  RunningJob job({"-n", "2", rank_program(), "nowhere", "0", "-"}, {"SHOAL_FAULT=rank=1,op=any,call=16,action=exit:9"});
  const JobEnd end = job.wait();  // The sixteenth of fourteen a round is the second broadcast.
  EXPECT_EQ(end.exit_code, 9);
  EXPECT_THAT(end.err, HasSubstr("not finished: broadcast number 2 "));
}

TEST_F(Fault, OfAnUnknownOperationIsRefusedWithAllThatThereAre) {
  RunningJob job({"-n", "2", rank_program(), "nowhere", "0", "-"}, {"SHOAL_FAULT=rank=1,op=allreduce,action=kill"});
  const JobEnd end = job.wait();
  for (const std::string& operation : kOperations) EXPECT_THAT(end.err, HasSubstr(operation));
}

TEST_F(Fault, ThatIsAskedForWronglyIsRefusedByEveryRank) {
  for (const std::string text :
       {"kill", "rank=1", "action=kill", "rank=x,action=kill", "rank=1,op=none,action=kill",
        "rank=1,call=0,action=kill", "rank=1,action=explode", "rank=1,action=exit:999", "rank=1,action=sleep:soon",
        "rank=1,action=kill,when=now", "rank=2,action=kill", "rank=1,rank=0,action=kill"}) {
    RunningJob job({"-n", "2", rank_program(), "nowhere", "0", "-"}, {"SHOAL_FAULT=" + text});
    const JobEnd end = job.wait();
    EXPECT_EQ(end.exit_code, 1) << text;
    EXPECT_THAT(end.err, HasSubstr("SHOAL_FAULT=" + text + ": "));
  }
}

}  // namespace
}  // namespace shoal::test

// When a job counts as standing still, and who is to blame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stall_watch.h"
#include "wait_table.h"

namespace shoal::detail {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr StallWatch::Time at(int ms) { return StallWatch::Time() + milliseconds(ms); }

TEST(StallWatch, TellsOfCallsThatHaveNotGoneOnForTheLimitAndNotSooner) {
  StallWatch watch(milliseconds(100));
  EXPECT_FALSE(watch.look(7, true, at(0)));
  EXPECT_FALSE(watch.look(7, true, at(99)));
  EXPECT_TRUE(watch.look(7, true, at(100)));
}

TEST(StallWatch, BeginsAnewWithEveryProgressAndWhileNobodyIsInACall) {
  StallWatch watch(milliseconds(100));
  watch.look(7, true, at(0));
  EXPECT_FALSE(watch.look(8, true, at(100)));
  EXPECT_FALSE(watch.look(8, false, at(250)));
  EXPECT_FALSE(watch.look(8, true, at(349)));
  EXPECT_TRUE(watch.look(8, true, at(350)));
}

TEST(StallWatch, DoesNotCountTimeInWhichTheJobWasStopped) {
  StallWatch watch(milliseconds(100));
  watch.look(7, true, at(0));
  watch.begin_anew();
  EXPECT_FALSE(watch.look(7, true, at(5000)));
  EXPECT_TRUE(watch.look(7, true, at(5100)));
}

RankView waiting_for(int peer) {
  return {.process_state = "sleeping",
          .phase = RankPhase::active,
          .last_call = LastCall{.call = {.operation = Operation::barrier}, .number = 3, .sequence = 5},
          .awaits = peer};
}
RankView busy() {
  RankView rank = waiting_for(-1);
  rank.process_state = "running";
  rank.last_call->returned = true;
  return rank;
}

TEST(WaitTable, HasALineForEachRankAndNamesItsCall) {
  RankView left = busy();
  left.phase = RankPhase::left;
  EXPECT_THAT(wait_table({waiting_for(1), busy(), left, {}, {.ended = true}}),
              ElementsAre("rank 0 waits for rank 1 (sleeping), in barrier number 3 (auto), call 5 of the world",
                          "rank 1 is in no call (running), after barrier number 3 (auto), call 5 of the world",
                          "rank 2 has left its session (running), after barrier number 3 (auto), call 5 of the world",
                          "rank 3 has no session", "rank 4 has ended"));
}

TEST(WaitTable, ShowsAlsoWhoWaitsOnTheWayIntoItsFirstCall) {
  RankView early = waiting_for(0);
  early.last_call.reset();
  EXPECT_THAT(wait_table({{}, early}), ElementsAre("rank 0 has no session", "rank 1 waits for rank 0 (sleeping)"));
  EXPECT_EQ(stall_cause({{}, early}).rank, 0);
}

RankView gave_up_on(int peer) {
  RankView rank = waiting_for(peer);
  rank.ended = true;
  rank.gave_up = true;
  rank.last_call->failed = true;
  rank.last_call->returned = true;
  return rank;
}

TEST(WaitTable, ShowsForWhomRanksWaitedThatHaveEndedSinceTheirTimeWasUp) {
  EXPECT_THAT(wait_table({gave_up_on(1), busy()}),
              ElementsAre("rank 0 waited for rank 1 and has ended, in barrier number 3 (auto), call 5 of the world",
                          "rank 1 is in no call (running), after barrier number 3 (auto), call 5 of the world"));
}

TEST(StallCause, OfATimeoutIsAtTheEndOfTheWaitsThatItEnded) {
  EXPECT_EQ(stall_cause({gave_up_on(2), gave_up_on(0), busy()}).rank, 2);
  EXPECT_EQ(stall_cause({gave_up_on(1), gave_up_on(0)}).rank, -1);
}

TEST(StallCause, IsTheRankForWhichAllWaitInTheEnd) {
  const StallCause cause = stall_cause({waiting_for(3), busy(), waiting_for(1), waiting_for(2)});
  EXPECT_EQ(cause.rank, 1);
  EXPECT_EQ(cause.text, "the others wait for rank 1, which is in no call");
}

TEST(StallCause, IsTheStoppedRankAlsoWhenItWasStoppedWhileItWaited) {
  RankView stopped = waiting_for(0);
  stopped.process_state = RankView::kStopped;
  const StallCause cause = stall_cause({waiting_for(2), waiting_for(2), stopped});
  EXPECT_EQ(cause.rank, 2);
  EXPECT_EQ(cause.text, "rank 2 is stopped");
}

TEST(StallCause, IsARankThatLoopsInsideOfACall) {
  EXPECT_EQ(stall_cause({waiting_for(-1), busy()}).rank, 0);
  EXPECT_EQ(stall_cause({waiting_for(1), waiting_for(-1)}).rank, 1);
}

TEST(StallCause, OfACircleIsNobodyInParticular) {
  const StallCause cause = stall_cause({waiting_for(1), waiting_for(0)});
  EXPECT_EQ(cause.rank, -1);
  EXPECT_THAT(cause.text, HasSubstr("wait for each other"));
}

TEST(StallCause, SurvivesWhateverARankWroteIntoTheSegment) {
  EXPECT_EQ(stall_cause({waiting_for(99), busy()}).rank, -1);
  EXPECT_EQ(stall_cause({}).rank, -1);
}

}  // namespace
}  // namespace shoal::detail

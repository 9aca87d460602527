#include "verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace shoal::detail {
namespace {

using testing::HasSubstr;

// As waitpid gives them.
constexpr int exited(int code) { return code << 8; }
constexpr int killed(int signal) { return signal; }

const std::optional<FirstFailure> kNoError;

FirstFailure left(int rank) {
  return {.rank = rank, .kind = FailureKind::left, .code = 0, .message = "rank 9: peer lost"};
}

TEST(Verdict, BlamesNobodyWhileAllGiveZero) {
  Verdict verdict;
  verdict.ended(0, exited(0), false);
  verdict.ended(1, exited(0), false);
  EXPECT_FALSE(verdict.decide(kNoError));
  EXPECT_FALSE(verdict.decide_at_end(kNoError));
}

TEST(Verdict, BlamesTheRankThatLeftOthersWaitingThoughAllGiveZero) {
  Verdict verdict;
  verdict.ended(0, exited(0), false);
  verdict.ended(1, exited(0), false);
  EXPECT_FALSE(verdict.decide(left(0))) << "not while a rank that fails may still tell more";
  const auto failure = verdict.decide_at_end(left(0));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->rank, 0);
  EXPECT_EQ(failure->kind, FailureKind::left);
  EXPECT_EQ(failure->code, 1);
}

TEST(Verdict, BlamesWhoFailedFirst) {
  Verdict verdict;
  verdict.ended(3, exited(0), false);
  verdict.ended(2, exited(5), false);
  verdict.ended(0, killed(SIGSEGV), false);
  const auto failure = verdict.decide(kNoError);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->rank, 2);
  EXPECT_EQ(failure->code, 5);
  EXPECT_EQ(failure->kind, FailureKind::exit);
  EXPECT_EQ(failure->message, "rank 2 exited with status 5");
}

TEST(Verdict, WaitsForTheEndOfTheRankThatLeftItsVictims) {
  Verdict verdict;
  verdict.ended(1, exited(1), false);
  EXPECT_FALSE(verdict.decide(left(3)));
  EXPECT_EQ(verdict.awaited(left(3)), 3);
  verdict.ended(3, exited(8), false);
  EXPECT_FALSE(verdict.awaited(left(3)));
  const auto failure = verdict.decide(left(3));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->rank, 3);
  EXPECT_EQ(failure->code, 8);
}

TEST(Verdict, BlamesALeaverThatGaveZeroOrLivesOn) {
  Verdict ended;
  ended.ended(3, exited(0), false);
  ended.ended(1, exited(1), false);
  const auto failure = ended.decide(left(3));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->rank, 3);
  EXPECT_EQ(failure->kind, FailureKind::left);
  EXPECT_THAT(failure->message, HasSubstr("rank 3 left while others waited for it"));

  Verdict alive;
  alive.ended(1, exited(1), false);
  const auto blamed = alive.decide_now(left(3));
  ASSERT_TRUE(blamed);
  EXPECT_EQ(blamed->rank, 3);
  EXPECT_EQ(blamed->kind, FailureKind::left);
}

TEST(Verdict, TakesAnAbortForThatOfAVictimButNoOtherSignal) {
  Verdict aborted;
  aborted.ended(1, killed(SIGABRT), false);
  EXPECT_EQ(aborted.awaited(left(3)), 3);

  Verdict crashed;
  crashed.ended(1, killed(SIGSEGV), false);
  const auto failure = crashed.decide(left(3));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->rank, 1);
  EXPECT_EQ(failure->kind, FailureKind::signal);
  EXPECT_EQ(failure->code, SIGSEGV);
}

TEST(Verdict, TakesWhoMetAnErrorForAVictimHoweverItEnds) {
  for (const int signal : {SIGSEGV, SIGTERM, SIGKILL}) {
    Verdict verdict;
    verdict.ended(0, killed(signal), true);
    EXPECT_EQ(verdict.awaited(left(1)), 1);
    verdict.ended(1, exited(3), false);
    const auto failure = verdict.decide(left(1));
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->rank, 1);
    EXPECT_EQ(failure->code, 3);
  }
}

TEST(Verdict, OfATimeoutLeavesOpenForWhomItsVictimWaited) {
  const FirstFailure error{.rank = 1, .kind = FailureKind::timeout, .code = 1, .message = "rank 1: timeout"};
  for (const int victim : {1, 0}) {
    Verdict verdict;
    verdict.ended(victim, exited(9), true);
    EXPECT_FALSE(verdict.awaited(error)) << "there is nothing to wait for";
    const auto failure = verdict.decide(error);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->kind, FailureKind::timeout);
    EXPECT_EQ(failure->message, "rank 1: timeout");
  }
}

TEST(Verdict, TellsWhatTheCulpritsOwnErrorWas) {
  const FirstFailure error{.rank = 2, .kind = FailureKind::mismatch, .code = 1, .message = "rank 2: mismatch"};
  Verdict verdict;
  verdict.ended(0, exited(1), false);
  verdict.ended(2, exited(1), false);
  const auto failure = verdict.decide(error);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message, "rank 2 exited with status 1: rank 2: mismatch");
}

TEST(Verdict, KeepsTheKindOfAnErrorThatItsRankExitedFor) {
  const FirstFailure error{.rank = 2, .kind = FailureKind::mismatch, .code = 1, .message = "rank 2: so"};
  Verdict exits;
  exits.ended(2, exited(1), true);
  EXPECT_EQ(exits.decide(error)->kind, FailureKind::mismatch);
  Verdict dies;  // Of nothing that the error has to do with.
  dies.ended(2, killed(SIGSEGV), false);
  EXPECT_EQ(dies.decide(error)->kind, FailureKind::signal);
}

}  // namespace
}  // namespace shoal::detail

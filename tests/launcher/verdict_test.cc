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
  verdict.ended(0, exited(0));
  verdict.ended(1, exited(0));
  EXPECT_FALSE(verdict.decide(kNoError));
  EXPECT_FALSE(verdict.decide_at_end(kNoError));
}

TEST(Verdict, BlamesTheRankThatLeftOthersWaitingThoughAllGiveZero) {
  Verdict verdict;
  verdict.ended(0, exited(0));
  verdict.ended(1, exited(0));
  EXPECT_FALSE(verdict.decide(left(0))) << "not while a rank that fails may still tell more";
  const auto failure = verdict.decide_at_end(left(0));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->rank, 0);
  EXPECT_EQ(failure->kind, FailureKind::left);
  EXPECT_EQ(failure->code, 1);
}

TEST(Verdict, BlamesWhoFailedFirst) {
  Verdict verdict;
  verdict.ended(3, exited(0));
  verdict.ended(2, exited(5));
  verdict.ended(0, killed(SIGSEGV));
  const auto failure = verdict.decide(kNoError);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->rank, 2);
  EXPECT_EQ(failure->code, 5);
  EXPECT_EQ(failure->kind, FailureKind::exit);
  EXPECT_EQ(failure->message, "rank 2 exited with status 5");
}

TEST(Verdict, WaitsForTheEndOfTheRankThatLeftItsVictims) {
  Verdict verdict;
  verdict.ended(1, exited(1));
  EXPECT_FALSE(verdict.decide(left(3)));
  EXPECT_EQ(verdict.awaited(left(3)), 3);
  verdict.ended(3, exited(8));
  EXPECT_FALSE(verdict.awaited(left(3)));
  const auto failure = verdict.decide(left(3));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->rank, 3);
  EXPECT_EQ(failure->code, 8);
}

TEST(Verdict, BlamesALeaverThatGaveZeroOrLivesOn) {
  Verdict ended;
  ended.ended(3, exited(0));
  ended.ended(1, exited(1));
  const auto failure = ended.decide(left(3));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->rank, 3);
  EXPECT_EQ(failure->kind, FailureKind::left);
  EXPECT_THAT(failure->message, HasSubstr("rank 3 left while others waited for it"));

  Verdict alive;
  alive.ended(1, exited(1));
  const auto blamed = alive.decide_now(left(3));
  ASSERT_TRUE(blamed);
  EXPECT_EQ(blamed->rank, 3);
  EXPECT_EQ(blamed->kind, FailureKind::left);
}

TEST(Verdict, TakesAnAbortForThatOfAVictimButNoOtherSignal) {
  Verdict aborted;
  aborted.ended(1, killed(SIGABRT));
  EXPECT_EQ(aborted.awaited(left(3)), 3);

  Verdict crashed;
  crashed.ended(1, killed(SIGSEGV));
  const auto failure = crashed.decide(left(3));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->rank, 1);
  EXPECT_EQ(failure->kind, FailureKind::signal);
  EXPECT_EQ(failure->code, SIGSEGV);
}

TEST(Verdict, TellsWhatTheCulpritsOwnErrorWas) {
  const FirstFailure error{.rank = 2, .kind = FailureKind::mismatch, .code = 1, .message = "rank 2: mismatch"};
  Verdict verdict;
  verdict.ended(0, exited(1));
  verdict.ended(2, exited(1));
  const auto failure = verdict.decide(error);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message, "rank 2 exited with status 1: rank 2: mismatch");
}

TEST(Verdict, KeepsTheKindOfAnErrorThatItsRankExitedFor) {
  for (const FailureKind kind : {FailureKind::mismatch, FailureKind::timeout}) {
    const FirstFailure error{.rank = 2, .kind = kind, .code = 1, .message = "rank 2: so"};
    Verdict exits;
    exits.ended(2, exited(1));
    EXPECT_EQ(exits.decide(error)->kind, kind);
    Verdict dies;  // Of nothing that the error has to do with.
    dies.ended(2, killed(SIGSEGV));
    EXPECT_EQ(dies.decide(error)->kind, FailureKind::signal);
  }
}

}  // namespace
}  // namespace shoal::detail

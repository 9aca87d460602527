#include "shoal/launcher/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "shoal/runtime/error.h"
#include "support/run_ranks.h"

namespace shoal {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;

bool no_child_is_left() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

// Sends one byte round: every rank needs every other.
void pass_round(Communicator& comm) {
  const int right = (comm.rank() + 1) % comm.size();
  const int left = (comm.rank() + comm.size() - 1) % comm.size();
  const std::byte out{1};
  std::byte in{};
  for (int step = 0; step < comm.size(); ++step) {
    comm.perform({.operation = Operation::exchange}, std::nullopt,
                 [&] { comm.exchange(right, std::span(&out, 1), left, std::span(&in, 1)); });
  }
}

TEST(Launch, GivesEachRankItsOwnNumberAndProcess) {
  const auto result = launch(5, [](Session& session) {
    if (session.world().size() != 5) throw std::runtime_error("size");
    ::_exit(10 + session.world().rank());
  });
  ASSERT_EQ(result.ranks.size(), 5U);
  for (int rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(result.ranks[static_cast<std::size_t>(rank)].rank, rank);
    EXPECT_TRUE(result.ranks[static_cast<std::size_t>(rank)].exit_code == 10 + rank ||
                result.ranks[static_cast<std::size_t>(rank)].signal == SIGTERM);
  }
  EXPECT_TRUE(no_child_is_left());
}

TEST(Launch, IsOkWhenEveryBodyReturns) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const auto result = launch(ranks, [](Session& session) {
      if (session.world().size() > 1) pass_round(session.world());
    });
    EXPECT_TRUE(result.ok()) << ranks;
    EXPECT_FALSE(result.first_failure);
  }
}

TEST(Launch, HandsBackTheTextOfAnExceptionAndBlamesItsRank) {
  const auto result = launch(3, [](Session& session) {
    if (session.world().rank() == 1) throw std::runtime_error("no more paper");
    pass_round(session.world());
  });
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.ranks[1].error, "no more paper");
  EXPECT_THAT(result.ranks[0].error, HasSubstr("peer 1 lost"));
  EXPECT_THAT(result.ranks[2].error, HasSubstr("peer 1 lost"));
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.first_failure->rank, 1);
}

TEST(Launch, NamesTheSignalThatEndedARankAndWakesItsPeers) {
  for (const int signal : {SIGKILL, SIGSEGV, SIGABRT}) {
    const auto begun = steady_clock::now();
    const auto result = launch(4, [signal](Session& session) {
      if (session.world().rank() == 2) {
        ::signal(signal, SIG_DFL);
        ::raise(signal);
      }
      pass_round(session.world());
    });
    EXPECT_LT(steady_clock::now() - begun, std::chrono::seconds(10));
    EXPECT_EQ(result.exit_code, 128 + signal);
    ASSERT_TRUE(result.first_failure);
    EXPECT_EQ(result.first_failure->rank, 2);
    EXPECT_EQ(result.first_failure->kind, FailureKind::signal);
    EXPECT_EQ(result.ranks[2].signal, signal);
    for (const std::size_t peer : {0U, 1U, 3U})
      EXPECT_THAT(result.ranks[peer].error, HasSubstr(std::string("SIG") + ::sigabbrev_np(signal)));
  }
}

TEST(Launch, BlamesTheRankThatLeftEarlyAndNotThoseWhoWaitedForIt) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto result = launch(4, [](Session& session) {
      if (session.world().rank() == 0) return;
      pass_round(session.world());
    });
    EXPECT_EQ(result.exit_code, 1);
    ASSERT_TRUE(result.first_failure);
    EXPECT_EQ(result.first_failure->rank, 0);
    EXPECT_EQ(result.first_failure->kind, FailureKind::left);
    EXPECT_EQ(result.ranks[0].exit_code, 0);
  }
}

TEST(Launch, EndsAJobWhoseTimeIsUp) {
  const auto result = launch(2, [](Session&) { ::pause(); }, {.timeout = std::chrono::milliseconds(100)});
  EXPECT_EQ(result.exit_code, 124);
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.first_failure->kind, FailureKind::timeout);
}

TEST(Launch, KillsWhoIgnoresTermAfterTheGrace) {
  const auto result = launch(2,
                             [](Session& session) {
                               if (session.world().rank() == 0) throw std::runtime_error("first");
                               ::signal(SIGTERM, SIG_IGN);
                               for (;;) ::pause();
                             },
                             {.grace = std::chrono::milliseconds(100)});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.ranks[1].signal, SIGKILL);
}

TEST(Launch, EndsWhatRanksLeftBehind) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const auto result = launch(2, [&](Session&) {
    ::close(ends[0]);
    if (::fork() == 0) {
      ::setsid();
      ::signal(SIGTERM, SIG_IGN);
      for (;;) ::pause();
    }
  });
  ::close(ends[1]);
  EXPECT_TRUE(result.ok());
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "somebody still holds the pipe";
  ::close(ends[0]);
  EXPECT_TRUE(no_child_is_left());
}

TEST(Launch, LeavesNothingWhenItsCallerIsKilled) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t caller = ::fork();
  ASSERT_GE(caller, 0);
  if (caller == 0) {
    ::close(ends[0]);
    launch(3, [&](Session& session) {
      if (session.world().rank() == 0 && ::fork() == 0) ::setsid();
      [[maybe_unused]] const ssize_t written = ::write(ends[1], "x", 1);
      for (;;) ::pause();
    });
    ::_exit(0);
  }
  ::close(ends[1]);
  char byte = 0;
  for (int running = 0; running < 4; ++running) ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  ::kill(caller, SIGKILL);
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "somebody still holds the pipe";
  ::close(ends[0]);
  ::waitpid(caller, nullptr, 0);
}

TEST(Launch, TellsThatItsGuardWasKilledAndLeavesNothing) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const auto result = launch(3, [&](Session& session) {
    ::close(ends[0]);
    if (session.world().rank() == 0 && ::fork() == 0) {
      ::setsid();
      for (;;) ::pause();
    }
    if (session.world().rank() == 1) ::kill(::getppid(), SIGKILL);
    for (;;) ::pause();
  });
  ::close(ends[1]);
  EXPECT_EQ(result.exit_code, 137);
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.first_failure->rank, -1);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "somebody still holds the pipe";
  ::close(ends[0]);
  EXPECT_TRUE(no_child_is_left());
}

TEST(Launch, WritesWhatTheCallerHadBufferedOnce) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t caller = ::fork();
  ASSERT_GE(caller, 0);
  if (caller == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    std::printf("by C ");
    std::cout << "by C++ ";
    launch(4, [](Session&) {});
    std::fflush(nullptr);
    std::cout.flush();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char byte = 0;
  while (::read(ends[0], &byte, 1) == 1) text += byte;
  ::close(ends[0]);
  ::waitpid(caller, nullptr, 0);
  EXPECT_EQ(text, "by C by C++ ");
}

TEST(Launch, CanBeRepeatedWithManyRanks) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto result = launch(16, [](Session& session) { pass_round(session.world()); });
    ASSERT_TRUE(result.ok()) << repeat;
  }
}

TEST(Launch, LeavesNoDescriptorOpen) {
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator{});
  };
  launch(2, [](Session&) {});
  const auto before = open_descriptors();
  for (int repeat = 0; repeat < 10; ++repeat) launch(3, [](Session&) {});
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Launch, WorksFromAThreadThatEndsAfterwards) {
  LaunchResult result;
  std::thread([&] { result = launch(3, [](Session& session) { pass_round(session.world()); }); }).join();
  EXPECT_TRUE(result.ok());
}

TEST(Launch, RefusesAJobWithoutRanks) {
  for (const int ranks : {0, -1}) {
    try {
      launch(ranks, [](Session&) {});
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    }
  }
}

TEST(RunRanks, PassesWhenAllChecksHold) {
  const auto ranks = run_ranks(4, [](Communicator& comm) { EXPECT_EQ(comm.size(), 4); });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(RunRanks, TellsWhichCheckFailedInWhichRank) {
  const auto ranks = run_ranks(3, [](Communicator& comm) {
    EXPECT_NE(comm.rank(), 1) << "the middle one";
    if (comm.rank() == 2) ::abort();
  });
  EXPECT_FALSE(ranks.all_passed());
  EXPECT_TRUE(ranks.failed_checks(0).empty());
  ASSERT_EQ(ranks.failed_checks(1).size(), 1U);
  EXPECT_THAT(ranks.failed_checks(1)[0], HasSubstr("the middle one"));
  EXPECT_THAT(ranks.failed_checks(1)[0], HasSubstr("launch_test.cc:"));
  EXPECT_EQ(ranks.launch().ranks[2].signal, SIGABRT);
  std::ostringstream text;
  text << ranks;
  EXPECT_THAT(text.str(), HasSubstr("rank 1: "));
}

TEST(RunRanks, KeepsTheChecksOfARankThatDies) {
  const auto ranks = run_ranks(2, [](Communicator& comm) {
    EXPECT_EQ(comm.rank(), -1);
    ::raise(SIGKILL);
  });
  EXPECT_FALSE(ranks.checks_passed());
  EXPECT_EQ(ranks.failed_checks(0).size() + ranks.failed_checks(1).size(), 2U);
}

}  // namespace
}  // namespace shoal

#include "shoal/runtime/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "mapping.h"
#include "shoal/runtime/version.h"
#include "support/errors.h"
#include "support/run_ranks.h"

namespace shoal {
namespace {

using test::refusal_of;
using ::testing::HasSubstr;

// Runs `body` in a forked child that exits 0 if it returns true.
template <class Body>
bool true_in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    bool good = false;
    try {
      good = body();
    } catch (const std::exception& error) {
      fprintf(stderr, "%s\n", error.what());
    }
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Session, ProgramRunByItselfIsAWorldOfOne) {
  Session session;
  EXPECT_EQ(session.world().rank(), 0);
  EXPECT_EQ(session.world().size(), 1);
  std::pmr::vector<float> numbers(1000, 1.0F, session.heap());
  EXPECT_EQ(numbers[999], 1.0F);
}

TEST(Session, TenThousandSessionsInOneProcessKeepNoDescriptor) {
  EXPECT_TRUE(true_in_child([] {
    const rlimit few{.rlim_cur = 64, .rlim_max = 64};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int i = 0; i < 10'000; ++i) {
      const Session session;
    }
    return true;
  }));
}

TEST(Session, RanksMayBeginAndEndSessionsInTurn) {
  const auto result = launch(1, [](Session& first) { (void)first; });
  EXPECT_TRUE(result.ok());
  JobSegment segment = JobSegment::create({.ranks = 1});
  EXPECT_TRUE(true_in_child([&] {
    { const Session session(segment, 0); }
    const Session session(segment, 0);
    return true;
  }));
}

TEST(Session, SecondSessionOfTheSameRankInOneProcessIsRefused) {
  const JobSegment segment = JobSegment::create({.ranks = 2});
  EXPECT_TRUE(true_in_child([&] {
    const Session session(segment, 1);
    const std::string text = refusal_of(ErrorCode::system, [&] { const Session second(segment, 1); });
    return text == "this process has a session as rank 1 already";
  }));
}

TEST(Session, SecondProcessThatClaimsTheSameRankIsRefusedByName) {
  const JobSegment segment = JobSegment::create({.ranks = 2});
  EXPECT_TRUE(true_in_child([&] {
    const Session session(segment, 0);
    const pid_t owner = getpid();
    return true_in_child([&] {
      const std::string text = refusal_of(ErrorCode::system, [&] { const Session second(segment, 0); });
      return text == "rank 0 of this job is taken already, by process " + std::to_string(owner);
    });
  }));
}

TEST(Session, EnvironmentThatNamesNoJobOrNoRankIsRefused) {
  const JobSegment segment = JobSegment::create({.ranks = 2});
  const auto refused = [&](const char* job, const char* rank) {
    setenv("SHOAL_JOB", job, 1);
    rank != nullptr ? setenv("SHOAL_RANK", rank, 1) : unsetenv("SHOAL_RANK");
    std::string text = refusal_of(ErrorCode::system, [] { const Session session; });
    unsetenv("SHOAL_JOB");
    unsetenv("SHOAL_RANK");
    return text;
  };
  EXPECT_THAT(refused("nonsense", "0"), HasSubstr("SHOAL_JOB=nonsense"));
  for (const char* rank : {"2", "-1", "x", "", "1x"}) {
    EXPECT_EQ(refused(segment.reference().c_str(), rank),
              "SHOAL_RANK=" + std::string(rank) + " is not a rank of this job of 2");
  }
  EXPECT_THAT(refused(segment.reference().c_str(), nullptr), HasSubstr("SHOAL_RANK= is not a rank"));
}

TEST(Session, JobOfALauncherOfAnotherVersionIsRefusedNamingBoth) {
  const JobSegment segment = JobSegment::create({.ranks = 2});
  segment.mapping().header().version = 77;
  std::strcpy(segment.mapping().header().release, "12.34.56");
  setenv("SHOAL_JOB", segment.reference().c_str(), 1);
  setenv("SHOAL_RANK", "0", 1);
  const std::string text = refusal_of(ErrorCode::system, [] { const Session session; });
  unsetenv("SHOAL_JOB");
  unsetenv("SHOAL_RANK");
  EXPECT_EQ(text,
            "SHOAL_JOB=" + segment.reference() +
                ": launcher and program are of different versions: the job was started by shoal 12.34.56 (segment "
                "layout 77), this program has shoal " +
                std::string(kVersion) + " (layout " + std::to_string(detail::kLayoutVersion) + ")");
}

TEST(Session, HeapIsTheRanksOwnAndReadableByItsPeers) {
  const auto ranks = test::run_sessions(2, [](Session& session) {
    Communicator& comm = session.world();
    std::pmr::vector<int> mine(100, 1000 + comm.rank(), session.heap());
    EXPECT_EQ(mine[99], 1000 + comm.rank());
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal

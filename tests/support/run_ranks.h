#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "shoal/launcher/launch.h"
#include "shoal/runtime/communicator.h"
#include "shoal/runtime/session.h"

namespace shoal::test {

/// What became of ranks that a test ran: how each ended, and which of its checks failed.
class RanksResult {
 public:
  /// Every rank ended by itself with no exception and no failed check, and nothing of them is left.
  bool all_passed() const;

  /// How each rank ended, for tests in which some are meant to fail.
  const LaunchResult& launch() const noexcept { return launch_; }
  /// Checks (EXPECT_..., ASSERT_...) that failed in rank `rank`, each as "file:line: message".
  const std::vector<std::string>& failed_checks(int rank) const {
    return failed_checks_.at(static_cast<std::size_t>(rank));
  }
  /// Whether any check failed in any rank.
  bool checks_passed() const;

  friend std::ostream& operator<<(std::ostream& out, const RanksResult& result);

 private:
  friend RanksResult run_sessions(int ranks, std::function<void(Session&)> body, LaunchOptions options);

  LaunchResult launch_;
  std::vector<std::vector<std::string>> failed_checks_;
  std::string left_behind_;
};

/// Runs `body` in `ranks` real processes (launch()). GoogleTest checks work in it: those that fail are told to this
/// process, from ranks that die, too; an ASSERT leaves the body of its rank. A job that hangs is ended after
/// `options.timeout`, a minute if that is 0. Use it as
///
///     const auto ranks = run_ranks(4, [](Communicator& comm) { EXPECT_EQ(comm.size(), 4); });
///     EXPECT_TRUE(ranks.all_passed()) << ranks;
RanksResult run_ranks(int ranks, std::function<void(Communicator&)> body, LaunchOptions options = {});
/// The same for bodies that need the session.
RanksResult run_sessions(int ranks, std::function<void(Session&)> body, LaunchOptions options = {});

}  // namespace shoal::test

namespace shoal {
using test::run_ranks;
using test::run_sessions;
}  // namespace shoal

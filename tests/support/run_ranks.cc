// Failed checks are written into memory that the ranks share with the test, at once, so that those of a rank which
// then dies are not lost.
#include "support/run_ranks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <cstring>
#include <ostream>
#include <string_view>

namespace shoal::test {
namespace {

constexpr std::size_t kTextBytes = std::size_t{64} << 10;
constexpr std::chrono::minutes kPatience{1};

/// A rank's failed checks: texts, each ended by a zero.
struct CheckLog {
  std::size_t used = 0;
  std::size_t lost = 0;
  char text[kTextBytes];

  void add(std::string_view failure) {
    if (failure.size() + 1 > kTextBytes - used) {
      ++lost;
      return;
    }
    std::memcpy(text + used, failure.data(), failure.size());
    used += failure.size();
    text[used++] = '\0';
  }

  std::vector<std::string> read() const {
    std::vector<std::string> failures;
    for (std::size_t at = 0; at < used; at += failures.back().size() + 1) failures.emplace_back(text + at);
    if (lost > 0) failures.push_back("and " + std::to_string(lost) + " more");
    return failures;
  }
};

/// Replaces the printing of GoogleTest in a rank: the parent reports.
class CheckListener final : public testing::EmptyTestEventListener {
 public:
  explicit CheckListener(CheckLog& log) : log_(&log) {}

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const std::string file = result.file_name() != nullptr ? result.file_name() : "unknown file";
    log_->add(file + ":" + std::to_string(result.line_number()) + ": " + result.message());
  }

 private:
  CheckLog* log_;
};

void report_checks_to(CheckLog& log) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  delete listeners.Release(listeners.default_xml_generator());
  listeners.Append(new CheckListener(log));  // Owned by GoogleTest from here on.
}

}  // namespace

bool RanksResult::checks_passed() const {
  return std::ranges::all_of(failed_checks_, [](const auto& failures) { return failures.empty(); });
}

bool RanksResult::all_passed() const {
  const bool all_ended_well = std::ranges::all_of(
      launch_.ranks, [](const RankOutcome& rank) { return rank.exit_code == 0 && !rank.signal && rank.error.empty(); });
  return launch_.ok() && all_ended_well && checks_passed() && left_behind_.empty();
}

RanksResult run_sessions(int ranks, std::function<void(Session&)> body, LaunchOptions options) {
  if (options.timeout.count() == 0) options.timeout = kPatience;
  boost::interprocess::mapped_region memory =
      boost::interprocess::anonymous_shared_memory(static_cast<std::size_t>(ranks) * sizeof(CheckLog));
  auto* logs = static_cast<CheckLog*>(memory.get_address());

  RanksResult result;
  result.launch_ = launch(
      ranks,
      [&](Session& session) {
        report_checks_to(logs[session.world().rank()]);
        body(session);
      },
      options);
  for (int rank = 0; rank < ranks; ++rank) result.failed_checks_.push_back(logs[rank].read());
  if (::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD) result.left_behind_ = "a child process is left";
  return result;
}

RanksResult run_ranks(int ranks, std::function<void(Communicator&)> body, LaunchOptions options) {
  return run_sessions(
      ranks, [body = std::move(body)](Session& session) { body(session.world()); }, options);
}

std::ostream& operator<<(std::ostream& out, const RanksResult& result) {
  out << "exit code " << result.launch_.exit_code;
  if (result.launch_.first_failure) out << ", first failure: " << result.launch_.first_failure->message;
  for (const RankOutcome& rank : result.launch_.ranks) {
    out << "\nrank " << rank.rank;
    if (rank.signal) {
      out << " ended by signal " << *rank.signal;
    } else {
      out << " exited with " << rank.exit_code;
    }
    if (!rank.error.empty()) out << ", exception: " << rank.error;
    for (const std::string& failure : result.failed_checks(rank.rank)) out << "\nrank " << rank.rank << ": " << failure;
  }
  if (!result.left_behind_.empty()) out << '\n' << result.left_behind_;
  return out;
}

}  // namespace shoal::test

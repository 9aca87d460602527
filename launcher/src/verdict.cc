#include "verdict.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "exit_status.h"

namespace shoal::detail {
namespace {

FirstFailure failure_of_leaving(const FirstFailure& first_error) {
  FirstFailure failure = first_error;
  failure.code = 1;
  failure.message =
      "rank " + std::to_string(failure.rank) + " left while others waited for it (" + first_error.message + ")";
  return failure;
}

}  // namespace

void Verdict::ended(int rank, int wait_status, bool met_error) {
  order_.push_back(rank);
  wait_status_[rank] = wait_status;
  if (met_error) met_error_.insert(rank);
}

// A rank that lost a peer exits with an error or, where nobody catches the exception, aborts. Any other signal is a
// misfortune of its own, unless it is known to have met the error before.
bool Verdict::may_be_a_victim(int rank) const {
  const int status = wait_status_.at(rank);
  return met_error_.contains(rank) || !WIFSIGNALED(status) || WTERMSIG(status) == SIGABRT;
}

std::optional<int> Verdict::first_to_fail() const {
  const auto failed = std::ranges::find_if(order_, [&](int rank) { return wait_status_.at(rank) != 0; });
  if (failed == order_.end()) return std::nullopt;
  return *failed;
}

std::optional<int> Verdict::awaited(const std::optional<FirstFailure>& first_error) const {
  const auto first = first_to_fail();
  if (!first || !first_error || first_error->rank < 0 || !may_be_a_victim(*first)) return std::nullopt;
  if (first_error->kind == FailureKind::timeout) return std::nullopt;  // A victim, too.
  if (wait_status_.contains(first_error->rank)) return std::nullopt;
  return first_error->rank;
}

std::optional<FirstFailure> Verdict::decide(const std::optional<FirstFailure>& first_error) const {
  if (awaited(first_error)) return std::nullopt;
  return decide_now(first_error);
}

std::optional<FirstFailure> Verdict::decide_now(const std::optional<FirstFailure>& first_error) const {
  const auto first = first_to_fail();
  if (!first) return std::nullopt;
  const int status = wait_status_.at(*first);
  if (!first_error || first_error->rank < 0 || !may_be_a_victim(*first)) return failure_of_wait(*first, status);
  if (first_error->kind == FailureKind::timeout) return *first_error;  // Whose fault it is, is seen elsewhere.

  // `first` failed because of first_error->rank, which may be itself, and whose own end tells most.
  const bool left = first_error->kind == FailureKind::left;
  const auto culprit = wait_status_.find(first_error->rank);
  if (culprit != wait_status_.end() && culprit->second != 0) {
    FirstFailure failure = failure_of_wait(first_error->rank, culprit->second);
    if (left) return failure;
    failure.message += ": " + first_error->message;
    if (failure.kind == FailureKind::exit) failure.kind = first_error->kind;
    return failure;
  }
  // It is alive, or has exited with 0: blamed for leaving the others, or for its call, with the code of its victim.
  if (left) return failure_of_leaving(*first_error);
  FirstFailure failure = *first_error;
  failure.code = exit_code_of_wait(status);
  return failure;
}

std::optional<FirstFailure> Verdict::decide_at_end(const std::optional<FirstFailure>& first_error) const {
  if (auto failure = decide_now(first_error)) return failure;
  if (!first_error || first_error->kind != FailureKind::left) return std::nullopt;
  return failure_of_leaving(*first_error);
}

}  // namespace shoal::detail

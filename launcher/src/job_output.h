#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>

#include "shoal/runtime/job_segment.h"

namespace shoal::detail {

/// Where the supervisor tells what happens to the job, and what carries the output of the ranks, if anything does.
class JobOutput {
 public:
  JobOutput() = default;
  JobOutput(const JobOutput&) = delete;
  JobOutput& operator=(const JobOutput&) = delete;
  virtual ~JobOutput() = default;

  /// The ranks have been forked; `broken` is called, once, if their output can no longer be passed on.
  virtual void start(boost::asio::io_context& loop, std::function<void(const FirstFailure&)> broken) = 0;
  /// A line of the launcher's own.
  virtual void announce(const std::string& line) = 0;
  /// Rank `rank` has ended: what it wrote comes before whatever is announced from now on.
  virtual void rank_ended(int rank) = 0;
  /// Nobody is left to write: passes on the rest and then calls `done`.
  virtual void finish(std::function<void()> done) = 0;
  /// The loop has ended, and is about to go: lets go of it.
  virtual void stop() = 0;
};

/// For ranks that write to the caller's own streams.
class NoJobOutput final : public JobOutput {
 public:
  void start(boost::asio::io_context& /*loop*/, std::function<void(const FirstFailure&)> /*broken*/) override {}
  void announce(const std::string& /*line*/) override {}
  void rank_ended(int /*rank*/) override {}
  void finish(std::function<void()> done) override { done(); }
  void stop() override {}
};

}  // namespace shoal::detail

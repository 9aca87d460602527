#pragma once

#include <optional>
#include <vector>

#include "call_book.h"
#include "channel.h"
#include "mapping.h"
#include "shoal/runtime/fabric.h"
#include "shoal/runtime/job_segment.h"
#include "wait.h"

namespace shoal::detail {

/// Ranks that are processes of one machine, joined by the channels of their job's segment.
class ShmFabric : public Fabric {
 public:
  ShmFabric(JobSegment segment, int rank);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void begin(CallContext& context) override;
  void end(const CallContext& context) noexcept override;
  void transfer(const Transfer& transfer, CallContext& context) override;
  void mark_broken(CallContext& context, const Error& error) noexcept override;
  std::uint64_t open_communicator(int members) override;
  void close_communicator(std::uint64_t communicator) noexcept override;
  void leave() override;
  Traffic traffic() const override;

 private:
  class Incoming;

  WaitPolicy policy_for(const CallContext& context) const;
  // Throws what makes waiting pointless: the job's end, the communicator's, a peer that left, the deadline.
  // `ready` is given a last chance first, since what a lost peer had sent is still to be read; true if it found some.
  template <class Ready>
  bool check(const Transfer& pending, CallContext& context, std::chrono::nanoseconds elapsed, Ready&& ready);
  [[noreturn]] void throw_aborted(const Transfer& pending, const CallContext& context) const;
  [[noreturn]] void throw_broken(CallContext& context) const;
  void compare_calls(const CallContext& context) const;
  bool owner_is_gone(int peer) const;
  std::optional<Error> find_unread(const CallContext& context);
  CommunicatorState& state_of(const CallContext& context) const;
  StateOf states() const;
  bool job_aborted() const;
  bool has_left(int peer) const;
  void wake_peer(int peer) noexcept { wake(segment_.mapping().rank(peer)); }

  JobSegment segment_;
  int rank_;
  int size_;
  WaitPolicy policy_;
  RankState& self_;
  std::vector<ChannelWriter> writers_;  // By the rank at the other end.
  std::vector<ChannelReader> readers_;
  CallBook book_;
};

}  // namespace shoal::detail

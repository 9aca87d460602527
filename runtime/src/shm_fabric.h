#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "call_book.h"
#include "channel.h"
#include "explanations.h"
#include "fault.h"
#include "mapping.h"
#include "shm_calibration.h"
#include "shm_waiting.h"
#include "shm_window.h"
#include "shoal/runtime/fabric.h"
#include "shoal/runtime/job_segment.h"

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
  void announce(int to, std::span<const std::byte> out, CallContext& context) override;
  void expect(int from, std::span<std::byte> in, CallContext& context) override;
  void mark_broken(CallContext& context, const Error& error) noexcept override;
  Window* window() noexcept override { return &window_; }
  std::uint64_t open_communicator(std::span<const int> members) override;
  void close_communicator(std::uint64_t communicator) noexcept override;
  void leave() override;
  Traffic traffic() const override;
  const Calibration& calibration(CallContext& context) override { return calibration_.get(context); }
  Explanations* explanations() noexcept override { return explanations_.get(); }

 private:
  class Incoming;

  std::optional<Error> find_unread(const CallContext& context);
  /// What a channel cannot hold: it may as well stay where it is until then.
  bool exceeds_channel(std::size_t bytes) const { return bytes > segment_.mapping().geometry.channel_bytes; }
  /// What is better taken from where it lies, by one copy instead of two, if its receiver comes for it soon.
  bool may_stay(std::size_t bytes) const { return bytes >= least_staying_ || exceeds_channel(bytes); }
  /// Where `peer` gets at this rank's `memory` with less trouble than through the ring; 0: nowhere.
  Place place_for(int peer, std::span<const std::byte> memory) const;
  /// Begins a message, unless it has been announced.
  void open(int to, std::span<const std::byte> out, const CallContext& context);
  /// Whether `to` has soon taken all that was sent to it.
  bool catches_up(int to, std::size_t bytes);
  /// How often a sender looks whether its receiver comes for a message that stays where it is.
  std::size_t patience(std::size_t bytes) const;
  /// Puts what waits for its receiver where that wants it, if it says so.
  bool push(const Transfer& transfer, CallContext& context);

  JobSegment segment_;
  int rank_;
  int size_;
  std::vector<ChannelWriter> writers_;  // By the rank at the other end.
  std::vector<ChannelReader> readers_;
  std::vector<bool> announced_;  // Whether the next message to that rank has been begun.
  bool heard_ = false;           // Of an error, in any call.
  CallBook book_;
  std::optional<Fault> fault_;
  ShmWaiting waiting_;
  ShmWindow window_;
  ShmCalibration calibration_;
  std::unique_ptr<Explanations> explanations_;
  std::size_t least_staying_;  // Bytes of a message.
};

}  // namespace shoal::detail

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <list>
#include <span>
#include <vector>

// One direction between two simulated ranks: messages in order, with a bound on the payload between the ends.
// Both ends are in one process and see each other, so that a channel of capacity 0 can be a rendezvous: bytes move
// only into a receive that waits for them.

namespace shoal::detail {

struct SimulatedMessage {
  std::uint64_t fingerprint = 0;
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds arrival{0};  ///< Virtual time at which all of it is there.
  std::vector<std::byte> content{};     ///< Empty where contents are phantom.
  std::uint64_t written = 0;
  std::uint64_t read = 0;
};

/// Messages that no channel holds, to be used again: in a large world most channels are empty most of the time, and
/// none of them may keep memory for what it held once.
using SimulatedMessages = std::list<SimulatedMessage>;

class SimulatedChannel {
 public:
  SimulatedChannel(std::uint64_t capacity, SimulatedMessages& unused) : capacity_(capacity), unused_(unused) {}

  /// Payload that the sender may add now; 0: nothing, not even the beginning of an empty message.
  std::uint64_t room() const {
    if (capacity_ > held_) {
      return capacity_ - held_;
    }
    return receiver_waits_ && held_ == 0 ? std::numeric_limits<std::uint64_t>::max() : 0;
  }
  void begin_message(std::uint64_t fingerprint, std::uint64_t bytes, std::chrono::nanoseconds arrival, bool phantom) {
    if (unused_.empty()) unused_.emplace_back();
    messages_.splice(messages_.end(), unused_, unused_.begin());
    SimulatedMessage& message = messages_.back();
    message.fingerprint = fingerprint;
    message.bytes = bytes;
    message.arrival = arrival;
    message.written = 0;
    message.read = 0;
    message.content.resize(phantom ? 0 : bytes);
  }
  void write(std::span<const std::byte> piece) {
    SimulatedMessage& message = messages_.back();
    if (!message.content.empty() && !piece.empty()) {
      std::memcpy(message.content.data() + message.written, piece.data(), piece.size());
    }
    message.written += piece.size();
    held_ += piece.size();
  }

  /// The receiver is in a receive for this channel, or no longer.
  void set_receiver_waits(bool waits) { receiver_waits_ = waits; }
  /// The message that is read next; null before it has begun.
  const SimulatedMessage* front() const { return messages_.empty() ? nullptr : &messages_.front(); }
  void read(std::uint64_t bytes) {
    messages_.front().read += bytes;
    held_ -= bytes;
  }
  void end_message() { unused_.splice(unused_.begin(), messages_, messages_.begin()); }

 private:
  std::uint64_t capacity_;
  std::uint64_t held_ = 0;  // Written and not yet read, over all messages.
  bool receiver_waits_ = false;
  SimulatedMessages messages_;
  SimulatedMessages& unused_;
};

}  // namespace shoal::detail

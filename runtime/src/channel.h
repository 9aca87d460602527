#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

// A single-producer single-consumer channel of messages over memory that it does not own.
//
// The ring holds messages back to back: a 16-byte header (fingerprint, payload bytes), the payload, padding to 16.
// Positions are byte counts since the beginning that only grow; position p lies at ring[p % ring size]. `head` is
// written by the producer only, `tail` by the consumer only, and each side keeps a copy of the other's, so that it
// touches the other's line only when its copy says there is nothing to do.
//
//        tail                 head
//   ......|hdr|payload....|hdr|payl          [tail, head) is readable, the rest of the ring writable
//
// A message of up to 40 bytes that finds the channel empty rides in the producer's line, beside `head`: one line
// crosses between the cores instead of two. It still takes its place in the count of positions, and
// `inline_mark` says at which position it stands; the line is not touched again until it has been consumed.
//
// Publications are sequentially consistent stores: besides releasing what they publish they order it before the
// look at the peer's `sleeping` flag (see wait.h).

namespace shoal::detail {

inline constexpr std::size_t kMessageAlignment = 16;
inline constexpr std::size_t kInlineBytes = 40;
inline constexpr std::size_t kSmallestRing = 256;

struct MessageHeader {
  std::uint64_t fingerprint = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(MessageHeader) == kMessageAlignment);

struct alignas(128) ProducerLine {
  std::atomic<std::uint64_t> head;
  std::uint64_t inline_mark;  ///< position << 4 | 0x80 | payload bytes (positions are multiples of 16); 0: none.
  std::uint64_t inline_fingerprint;
  std::byte inline_payload[kInlineBytes];
};
struct alignas(128) ConsumerLine {
  std::atomic<std::uint64_t> tail;
};
struct ChannelControl {
  ProducerLine producer;  ///< Writer: the sending rank.
  ConsumerLine consumer;  ///< Writer: the receiving rank.
};
static_assert(offsetof(ProducerLine, inline_payload) + kInlineBytes == 64, "head and payload share one line");
static_assert(sizeof(ChannelControl) == 256);

constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + kMessageAlignment - 1) / kMessageAlignment * kMessageAlignment;
}

/// The producer's end. One per process and channel.
class ChannelWriter {
 public:
  ChannelWriter(ChannelControl& control, std::span<std::byte> ring)
      : line_(&control.producer), tail_(&control.consumer.tail), ring_(ring) {
    head_ = line_->head.load(std::memory_order_relaxed);  // Own field.
    known_tail_ = tail_->load(std::memory_order_acquire);
  }

  /// Begins a message. One at a time: it must be written to its end before the next begins.
  void open(MessageHeader header, const std::byte* payload) {
    header_ = header;
    payload_ = payload;
    left_ = header.bytes;
    header_written_ = false;
  }

  bool done() const { return left_ == 0 && header_written_; }
  /// Whether all that was written has been taken.
  bool all_taken() { return known_empty(); }

  /// Writes what there is room for and publishes it; false when there is room for nothing.
  bool advance() {
    if (!header_written_) {
      if (header_.bytes <= kInlineBytes && known_empty()) {
        write_inline();
        return true;
      }
      if (room() < sizeof(MessageHeader)) {
        return false;
      }
      std::memcpy(at(head_), &header_, sizeof header_);  // Headers never wrap: both are multiples of 16.
      head_ += sizeof header_;
      header_written_ = true;
      write_payload();
      publish();
      return true;
    }
    if (!write_payload()) {
      return false;
    }
    publish();
    return true;
  }

 private:
  std::byte* at(std::uint64_t position) const { return ring_.data() + position % ring_.size(); }

  // Whether the consumer has taken everything. Its loads pair with the consumer's store of tail: what it read from
  // the line or the ring it has read before we write there again.
  bool known_empty() {
    if (known_tail_ != head_) {
      known_tail_ = tail_->load(std::memory_order_seq_cst);
    }
    return known_tail_ == head_;
  }

  std::uint64_t room() {
    std::uint64_t free = ring_.size() - (head_ - known_tail_);
    if (free < wanted()) {
      known_tail_ = tail_->load(std::memory_order_seq_cst);  // Pairs with ChannelReader::publish.
      free = ring_.size() - (head_ - known_tail_);
    }
    return free;
  }
  std::uint64_t wanted() const {
    return std::min<std::uint64_t>(ring_.size() / 4, padded(left_) + (header_written_ ? 0 : sizeof header_));
  }

  // Copies one piece (at most a quarter of the ring, so that the consumer works beside us), without publishing.
  bool write_payload() {
    if (left_ == 0) {
      return false;
    }
    // Pieces but the last are multiples of 16, so that whole elements are published.
    const std::uint64_t piece = std::min({room(), left_, std::uint64_t{ring_.size() / 4}});
    const std::uint64_t bytes = piece == left_ ? piece : piece / kMessageAlignment * kMessageAlignment;
    if (bytes == 0) {
      return false;
    }
    const std::uint64_t until_end = ring_.size() - head_ % ring_.size();
    const std::uint64_t first = std::min(bytes, until_end);
    std::memcpy(at(head_), payload_, first);
    std::memcpy(ring_.data(), payload_ + first, bytes - first);
    payload_ += bytes;
    left_ -= bytes;
    head_ += left_ == 0 ? padded(bytes) : bytes;
    return true;
  }

  void write_inline() {
    line_->inline_mark = head_ << 4 | 0x80 | header_.bytes;
    line_->inline_fingerprint = header_.fingerprint;
    if (left_ != 0) {
      std::memcpy(line_->inline_payload, payload_, left_);
    }
    head_ += sizeof(MessageHeader) + padded(left_);
    left_ = 0;
    header_written_ = true;
    publish();
  }

  // Pairs with the load of head in ChannelReader::available: content first, then the position.
  void publish() { line_->head.store(head_, std::memory_order_seq_cst); }

  ProducerLine* line_;
  std::atomic<std::uint64_t>* tail_;
  std::span<std::byte> ring_;
  std::uint64_t head_ = 0;
  std::uint64_t known_tail_ = 0;
  MessageHeader header_;
  const std::byte* payload_ = nullptr;
  std::uint64_t left_ = 0;
  bool header_written_ = true;
};

/// The consumer's end. One per process and channel.
class ChannelReader {
 public:
  ChannelReader(ChannelControl& control, std::span<const std::byte> ring)
      : line_(&control.producer), shared_tail_(&control.consumer.tail), ring_(ring) {
    tail_ = shared_tail_->load(std::memory_order_relaxed);  // Own field.
    known_head_ = tail_;
  }

  /// The header of the message in front, once it has arrived; the message is open until all of it is consumed.
  std::optional<MessageHeader> open() {
    if (available() == 0) {
      return std::nullopt;
    }
    MessageHeader header;
    inlined_ = line_->inline_mark >> 8 == tail_ >> 4 && (line_->inline_mark & 0x80) != 0;
    if (inlined_) {
      header = {line_->inline_fingerprint, line_->inline_mark & 0x7f};
    } else {
      std::memcpy(&header, at(tail_), sizeof header);
    }
    tail_ += sizeof header;
    left_ = header.bytes;
    if (left_ == 0) {
      publish();
    }
    return header;
  }

  bool done() const { return left_ == 0; }

  /// A contiguous piece of the open message's payload that has arrived; empty when there is none yet. Pieces but the
  /// last are multiples of 16 bytes.
  std::span<const std::byte> piece() {
    if (left_ == 0) {
      return {};
    }
    if (inlined_) {
      return {line_->inline_payload, left_};
    }
    const std::uint64_t until_end = ring_.size() - tail_ % ring_.size();
    return {at(tail_), std::min({available(), left_, until_end, std::uint64_t{ring_.size() / 4}})};
  }

  /// Gives the room of the first `bytes` of piece() back to the producer.
  void consume(std::size_t bytes) {
    left_ -= bytes;
    tail_ += left_ == 0 ? padded(bytes) : bytes;
    publish();
  }

 private:
  const std::byte* at(std::uint64_t position) const { return ring_.data() + position % ring_.size(); }

  std::uint64_t available() {
    if (known_head_ == tail_) {
      // Pairs with ChannelWriter::publish: having seen the position, we see the content.
      known_head_ = line_->head.load(std::memory_order_seq_cst);
    }
    return known_head_ - tail_;
  }

  // Pairs with the loads of tail in ChannelWriter: our reads first, then the room.
  void publish() { shared_tail_->store(tail_, std::memory_order_seq_cst); }

  const ProducerLine* line_;
  std::atomic<std::uint64_t>* shared_tail_;
  std::span<const std::byte> ring_;
  std::uint64_t tail_ = 0;
  std::uint64_t known_head_ = 0;
  std::uint64_t left_ = 0;
  bool inlined_ = false;
};

}  // namespace shoal::detail

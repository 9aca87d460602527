#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

// A single-producer single-consumer channel of messages over memory that it does not own: a ring of envelopes, one
// cache line for each message, and a ring of bytes for what does not fit into its envelope.
//
//     envelopes    | 5: f, 8 bytes, payload | 6: f, 900 bytes, in the bytes up to `head` |  2  |  3  |  4  |
//                                                                                    message 7 goes here
//     bytes             tail                head
//                 ......|payload of 6 ......|.....      [tail, head) is readable, the rest of the ring writable
//
// Message n, counted from 1, has envelope n modulo their number, whose own number is stored last. So the consumer looks
// at one line only, the one where the next message will be, and for a message of up to 40 bytes one line crosses
// between the cores; messages that follow one another are written without a look at how far the consumer is, until the
// envelopes are used up.
//
// A payload in memory that both sides reach can also stay where it is: its envelope then says where, and the producer is
// done with it once the consumer has given the envelope back. A consumer that has other things to do meanwhile may offer
// the place where it wants such a payload; a producer that has waited long enough may recall it. Who moves it is settled
// in one word, by who first changes that:
//
//     consumer: taken, and copies it from where it lies
//     producer: recalled, and sends it through the ring
//     producer, of one that was offered a place: claimed --- it is there: delivered
//
// Positions in the bytes count from the beginning and only grow; position p lies at ring[p % ring size]. A payload
// begins at a multiple of 16. `head` is written by the producer only, `tail` and `taken` by the consumer only, and each
// side keeps a copy of the other's, so that it touches the other's line only when its copy says there is nothing to do.
//
// Who publishes looks at the peer's `sleeping` next, with a barrier between the two (wait.h). The loads are
// sequentially consistent for the same reason.

namespace shoal::detail {

inline constexpr std::size_t kMessageAlignment = 16;
inline constexpr std::size_t kInlineBytes = 40;
inline constexpr std::size_t kSmallestRing = 256;
/// Messages that a channel holds: as many as take as much memory as its bytes. A power of two, as the ring's size is.
constexpr std::uint64_t envelopes_beside(std::uint64_t ring_bytes) { return ring_bytes / 64; }

struct MessageHeader {
  std::uint64_t fingerprint = 0;
  std::uint64_t bytes = 0;
};

struct LongerMessage {
  std::uint64_t head;   ///< How far the bytes were filled when it was sent.
  std::uint64_t place;  ///< Where all of it lies that the consumer takes from there; 0: in the ring.
};

struct alignas(64) Envelope {
  std::atomic<std::uint64_t> number;  ///< Of its message, stored last; 0: none yet.
  MessageHeader header;
  union {
    std::byte payload[kInlineBytes];
    LongerMessage longer;
  };
};
struct alignas(128) ProducerLine {
  std::atomic<std::uint64_t> head;
  std::atomic<std::uint64_t> sent;  ///< Messages; for this side alone, should it begin anew.
};
/// Who moves a payload that stays where it is, in the lowest bits of a word; the others are the message's number, which
/// only grows.
enum class Mover : std::uint64_t { nobody, offered, claimed, delivered, taken, recalled };
constexpr std::uint64_t mover_word(std::uint64_t message, Mover state) {
  return message << 3 | static_cast<std::uint64_t>(state);
}
struct alignas(128) ConsumerLine {
  std::atomic<std::uint64_t> tail;
  std::atomic<std::uint64_t> taken;  ///< Messages whose envelope is free again.
  std::atomic<std::uint64_t> mover;  ///< A mover_word; the producer's too.
  MessageHeader wanted;              ///< The message that is offered
  std::uint64_t place;               ///< there.
};
struct ChannelControl {
  ProducerLine producer;  ///< Writer: the sending rank.
  ConsumerLine consumer;  ///< Writer: the receiving rank.
};
/// One channel, wherever its parts lie.
struct Channel {
  ChannelControl& control;
  std::span<Envelope> envelopes;  ///< Writer: the sending rank.
  std::span<std::byte> ring;

  /// Whether the consumer has taken all messages that were sent; it may be in the middle of one.
  bool all_messages_taken() const {
    const std::uint64_t next = control.consumer.taken.load(std::memory_order_seq_cst) + 1;
    return envelopes[next % envelopes.size()].number.load(std::memory_order_seq_cst) != next;
  }
};
static_assert(sizeof(Envelope) == 64 && offsetof(Envelope, payload) + kInlineBytes == 64, "an envelope is one line");
static_assert(sizeof(ConsumerLine) == 128 && sizeof(ChannelControl) == 256);

constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + kMessageAlignment - 1) / kMessageAlignment * kMessageAlignment;
}

/// The producer's end. One per process and channel.
class ChannelWriter {
 public:
  explicit ChannelWriter(const Channel& channel)
      : control_(&channel.control),
        envelopes_(channel.envelopes),
        ring_(channel.ring),
        head_(channel.control.producer.head.load(std::memory_order_relaxed)),  // Own fields.
        sent_(channel.control.producer.sent.load(std::memory_order_relaxed)),
        known_tail_(channel.control.consumer.tail.load(std::memory_order_acquire)),
        known_taken_(channel.control.consumer.taken.load(std::memory_order_acquire)) {}

  /// Begins a message. One at a time: it must be written to its end before the next begins. `place`: where its payload,
  /// of more than kInlineBytes, lies for the consumer too; 0: it is to be copied.
  void open(MessageHeader header, const std::byte* payload, std::uint64_t place = 0) {
    header_ = header;
    payload_ = payload;
    place_ = place;
    left_ = header.bytes;
    enveloped_ = false;
  }

  bool done() const { return left_ == 0 && enveloped_; }
  /// Whether all that was written has been taken.
  bool all_taken() {
    known_taken_ = control_->consumer.taken.load(std::memory_order_seq_cst);
    known_tail_ = control_->consumer.tail.load(std::memory_order_seq_cst);
    return known_taken_ == sent_ && known_tail_ == head_;
  }

  /// Of a message that stays where it is until the consumer takes it: where the consumer wants it, if it says so. This
  /// side must then put it there and deliver() it.
  std::optional<std::uint64_t> claim() {
    if (!enveloped_ || place_ == 0 || left_ == 0) return std::nullopt;
    ConsumerLine& line = control_->consumer;
    std::uint64_t offer = mover_word(sent_, Mover::offered);
    // Pairs with the store in ChannelReader::offer: having seen the offer, we see what it says.
    if (line.mover.load(std::memory_order_seq_cst) != offer ||
        !line.mover.compare_exchange_strong(offer, mover_word(sent_, Mover::claimed), std::memory_order_acq_rel))
      return std::nullopt;
    if (line.wanted.fingerprint == header_.fingerprint && line.wanted.bytes == header_.bytes) return line.place;
    // Another message is expected, as the consumer will find.
    line.mover.store(mover_word(sent_, Mover::nobody), std::memory_order_release);
    return std::nullopt;
  }
  void deliver() {
    left_ = 0;
    // Pairs with the load in ChannelReader::settle: the payload first, then this.
    control_->consumer.mover.store(mover_word(sent_, Mover::delivered), std::memory_order_release);
  }

  /// Of such a message, before which all had been taken when it was opened: sends it through the ring after all, so that
  /// this side need not wait for the consumer where the ring has room. False if the consumer has it already.
  bool recall() {
    if (!enveloped_ || place_ == 0 || left_ == 0) return false;
    std::atomic<std::uint64_t>& mover = control_->consumer.mover;
    std::uint64_t found = mover.load(std::memory_order_relaxed);
    // The consumer has this message, or is beyond it already. Only which of the two was first counts: the payload comes
    // by the ring, and is published by its head.
    if (found >= mover_word(sent_, Mover::claimed) ||
        !mover.compare_exchange_strong(found, mover_word(sent_, Mover::recalled), std::memory_order_relaxed))
      return false;
    place_ = 0;
    return true;
  }

  /// Writes what there is room for and publishes it; false when there is room for nothing.
  bool advance() {
    if (enveloped_ && place_ != 0) {
      known_taken_ = control_->consumer.taken.load(std::memory_order_seq_cst);
      if (known_taken_ != sent_) return false;
      left_ = 0;
      return true;
    }
    if (enveloped_) {
      if (!write_payload()) return false;
      // Pairs with the load of head in ChannelReader::available: content first, then the position.
      control_->producer.head.store(head_, std::memory_order_release);
      return true;
    }
    if (!has_free_envelope()) return false;
    Envelope& envelope = envelopes_[(sent_ + 1) & (envelopes_.size() - 1)];
    envelope.header = header_;
    if (header_.bytes <= kInlineBytes) {
      if (left_ != 0) std::memcpy(envelope.payload, payload_, left_);
      left_ = 0;
    } else {
      if (place_ == 0) write_payload();
      envelope.longer = {.head = head_, .place = place_};
      control_->producer.head.store(head_, std::memory_order_relaxed);  // The envelope publishes it.
    }
    // Pairs with the load of number in ChannelReader::open: content first, then the number.
    envelope.number.store(++sent_, std::memory_order_release);
    control_->producer.sent.store(sent_, std::memory_order_relaxed);
    enveloped_ = true;
    return true;
  }

 private:
  std::byte* at(std::uint64_t position) const { return ring_.data() + position % ring_.size(); }

  // The loads of tail and taken pair with the consumer's stores: what it read from the ring or the envelope it has read
  // before we write there again.
  bool has_free_envelope() {
    if (sent_ - known_taken_ == envelopes_.size())
      known_taken_ = control_->consumer.taken.load(std::memory_order_seq_cst);
    return sent_ - known_taken_ < envelopes_.size();
  }

  std::uint64_t room() {
    std::uint64_t free = ring_.size() - (head_ - known_tail_);
    if (free < std::min<std::uint64_t>(ring_.size() / 4, padded(left_))) {
      known_tail_ = control_->consumer.tail.load(std::memory_order_seq_cst);
      free = ring_.size() - (head_ - known_tail_);
    }
    return free;
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

  ChannelControl* control_;
  std::span<Envelope> envelopes_;
  std::span<std::byte> ring_;
  std::uint64_t head_;
  std::uint64_t sent_;
  std::uint64_t known_tail_;
  std::uint64_t known_taken_;
  MessageHeader header_;
  const std::byte* payload_ = nullptr;
  std::uint64_t place_ = 0;
  std::uint64_t left_ = 0;
  bool enveloped_ = true;
};

/// The consumer's end. One per process and channel.
class ChannelReader {
 public:
  explicit ChannelReader(const Channel& channel)
      : control_(&channel.control),
        envelopes_(channel.envelopes),
        ring_(channel.ring),
        tail_(channel.control.consumer.tail.load(std::memory_order_relaxed)),  // Own fields.
        taken_(channel.control.consumer.taken.load(std::memory_order_relaxed)),
        known_head_(tail_) {}

  /// The header of the message in front, once it has arrived; the message is open until all of it is consumed.
  std::optional<MessageHeader> open() {
    const Envelope& envelope = next_envelope();
    // Pairs with the store in ChannelWriter::advance: having seen the number, we see the content.
    if (envelope.number.load(std::memory_order_seq_cst) != taken_ + 1) {
      return std::nullopt;
    }
    const MessageHeader header = envelope.header;
    left_ = header.bytes;
    in_envelope_ = left_ <= kInlineBytes;
    place_ = in_envelope_ ? 0 : envelope.longer.place;
    if (!in_envelope_) known_head_ = std::max(known_head_, envelope.longer.head);
    if (left_ == 0 || (!in_envelope_ && place_ == 0)) give_back_envelope();
    return header;
  }

  /// Where all of the open message's payload lies, if it is not in the channel; else 0.
  std::uint64_t place() const { return place_; }
  /// Lets the producer have that memory back.
  void consume_in_place() {
    left_ = 0;
    place_ = 0;
    give_back_envelope();
  }

  /// Offers `place` for the payload of the next message, which must be of this header. None may be open.
  void offer(MessageHeader wanted, std::uint64_t place) {
    ConsumerLine& line = control_->consumer;
    line.wanted = wanted;
    line.place = place;
    const std::uint64_t next = taken_ + 1;
    std::uint64_t found = line.mover.load(std::memory_order_relaxed);
    // Unless the producer has sent it already and recalls it.
    if (found != mover_word(next, Mover::recalled) &&
        line.mover.compare_exchange_strong(found, mover_word(next, Mover::offered), std::memory_order_release,
                                           std::memory_order_relaxed))
      offered_ = next;
  }
  /// Who moves the open message, which has a place: taken: this side, from now on; claimed: the producer, which is at
  /// it; delivered: the producer has done so; recalled: it comes through the ring, and has no place any more.
  Mover settle() {
    std::atomic<std::uint64_t>& word = control_->consumer.mover;
    const auto is = [message = taken_ + 1](std::uint64_t found, Mover state) {
      return found == mover_word(message, state);
    };
    // Acquire: having seen that it is delivered, we see the payload. Sequentially consistent, for wait.h.
    std::uint64_t found = word.load(std::memory_order_seq_cst);
    do {
      if (is(found, Mover::claimed)) return Mover::claimed;
      if (is(found, Mover::delivered) || is(found, Mover::recalled)) break;
    } while (!word.compare_exchange_strong(found, mover_word(taken_ + 1, Mover::taken), std::memory_order_acquire));
    offered_ = 0;
    if (is(found, Mover::delivered)) return Mover::delivered;
    if (!is(found, Mover::recalled)) return Mover::taken;
    place_ = 0;
    give_back_envelope();
    return Mover::recalled;
  }
  /// Takes an offer back, unless the producer is at it.
  void withdraw() {
    if (offered_ == 0) return;
    std::uint64_t offer = mover_word(offered_, Mover::offered);
    control_->consumer.mover.compare_exchange_strong(offer, mover_word(offered_, Mover::nobody),
                                                     std::memory_order_relaxed);
    offered_ = 0;
  }

  bool done() const { return left_ == 0; }

  /// A contiguous piece of the open message's payload that has arrived; empty when there is none yet. Pieces but the
  /// last are multiples of 16 bytes.
  std::span<const std::byte> piece() {
    if (left_ == 0 || place_ != 0) {
      return {};
    }
    if (in_envelope_) {
      return {next_envelope().payload, left_};
    }
    const std::uint64_t until_end = ring_.size() - tail_ % ring_.size();
    return {at(tail_), std::min({available(), left_, until_end, std::uint64_t{ring_.size() / 4}})};
  }

  /// Gives the room of the first `bytes` of piece() back to the producer; of what is in an envelope, all.
  void consume(std::size_t bytes) {
    left_ -= bytes;
    if (in_envelope_) return give_back_envelope();
    tail_ += left_ == 0 ? padded(bytes) : bytes;
    // Pairs with the load of tail in ChannelWriter: our reads first, then the room.
    control_->consumer.tail.store(tail_, std::memory_order_release);
  }

 private:
  const std::byte* at(std::uint64_t position) const { return ring_.data() + position % ring_.size(); }
  const Envelope& next_envelope() const { return envelopes_[(taken_ + 1) & (envelopes_.size() - 1)]; }

  std::uint64_t available() {
    if (known_head_ == tail_) {
      // Pairs with the store in ChannelWriter::advance: having seen the position, we see the content.
      known_head_ = control_->producer.head.load(std::memory_order_seq_cst);
    }
    return known_head_ - tail_;
  }

  // Pairs with the load of taken in ChannelWriter: our reads first, then the room.
  void give_back_envelope() { control_->consumer.taken.store(++taken_, std::memory_order_release); }

  ChannelControl* control_;
  std::span<const Envelope> envelopes_;
  std::span<const std::byte> ring_;
  std::uint64_t tail_;
  std::uint64_t taken_;
  std::uint64_t known_head_;
  std::uint64_t left_ = 0;
  std::uint64_t place_ = 0;
  std::uint64_t offered_ = 0;  // The message that an offer is out for; 0: none.
  bool in_envelope_ = false;
};

}  // namespace shoal::detail

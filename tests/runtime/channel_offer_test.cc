#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "channel.h"

// Payloads that stay where they are until the consumer takes them, the producer puts them where the consumer has offered,
// or recalls them: first step by step, then a thread at each end, which both want to move them.

namespace shoal::detail {
namespace {

struct TestChannel {
  Channel channel() { return {.control = *control, .envelopes = envelopes, .ring = ring}; }

  std::unique_ptr<ChannelControl> control = std::make_unique<ChannelControl>();
  std::vector<Envelope> envelopes = std::vector<Envelope>(4);
  std::vector<std::byte> ring = std::vector<std::byte>(256);
};

class ChannelOffer : public testing::Test {
 protected:
  static constexpr std::uint64_t kThere = 4096;  // Where the payload lies; nobody goes there.

  void send(MessageHeader header) {
    writer.open(header, nullptr, kThere);
    ASSERT_TRUE(writer.advance());  // The envelope.
    ASSERT_FALSE(writer.advance());
    ASSERT_FALSE(writer.done());
  }

  TestChannel channel;
  ChannelWriter writer{channel.channel()};
  ChannelReader reader{channel.channel()};
  const MessageHeader wanted{.fingerprint = 7, .bytes = 1000};
};

TEST_F(ChannelOffer, ThatTheProducerClaimsIsItsToFillAndOver) {
  for (std::uint64_t place = 1; place < 10; ++place) {
    reader.offer(wanted, place);
    send(wanted);
    EXPECT_EQ(writer.claim(), place);
    ASSERT_TRUE(reader.open());
    EXPECT_EQ(reader.settle(), Mover::claimed);
    EXPECT_EQ(reader.settle(), Mover::claimed);
    writer.deliver();
    EXPECT_TRUE(writer.done());
    EXPECT_EQ(reader.settle(), Mover::delivered);
    reader.consume_in_place();
    EXPECT_TRUE(writer.all_taken());
    EXPECT_EQ(reader.settle(), Mover::taken);  // It is not delivered twice.
  }
}

TEST_F(ChannelOffer, MayComeAfterTheMessage) {
  send(wanted);
  EXPECT_FALSE(writer.claim());
  reader.offer(wanted, 5);
  EXPECT_EQ(writer.claim(), 5U);
}

TEST_F(ChannelOffer, ThatTheConsumerSettlesFirstIsNotClaimedAnyMore) {
  reader.offer(wanted, 5);
  send(wanted);
  ASSERT_TRUE(reader.open());
  EXPECT_EQ(reader.settle(), Mover::taken);
  EXPECT_FALSE(writer.claim());
  EXPECT_EQ(reader.place(), kThere);
  reader.consume_in_place();
  EXPECT_TRUE(writer.advance());
  EXPECT_TRUE(writer.done());
}

TEST_F(ChannelOffer, ThatIsWithdrawnIsNotClaimed) {
  reader.offer(wanted, 5);
  reader.withdraw();
  send(wanted);
  EXPECT_FALSE(writer.claim());
}

TEST_F(ChannelOffer, OfAnotherMessageIsRefusedAndLeftToTheConsumer) {
  for (const MessageHeader other :
       {MessageHeader{.fingerprint = 8, .bytes = 1000}, MessageHeader{.fingerprint = 7, .bytes = 999}}) {
    reader.offer(wanted, 5);
    send(other);
    EXPECT_FALSE(writer.claim());
    ASSERT_EQ(reader.open()->bytes, other.bytes);
    EXPECT_EQ(reader.settle(), Mover::taken);
    reader.consume_in_place();
    EXPECT_TRUE(writer.advance());
  }
}

TEST_F(ChannelOffer, IsForTheNextMessageOnly) {
  reader.offer(wanted, 5);
  writer.open({.fingerprint = 7, .bytes = 0}, nullptr);  // Too small to have a place.
  ASSERT_TRUE(writer.advance());
  EXPECT_FALSE(writer.claim());
  send(wanted);
  EXPECT_FALSE(writer.claim());
  ASSERT_EQ(reader.open()->bytes, 0U);
  reader.withdraw();
  ASSERT_EQ(reader.open()->bytes, 1000U);
  EXPECT_EQ(reader.settle(), Mover::taken);
}

// A message of three rings' halves, so that the consumer has to make room for its end.
class ChannelRecall : public testing::Test {
 protected:
  ChannelRecall() {
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i * 7 + 1);
  }

  void send() {
    writer.open(header, payload.data(), 4096);
    ASSERT_TRUE(writer.advance());
    ASSERT_FALSE(writer.advance());
  }
  /// What comes through the ring.
  std::vector<std::byte> take_through_ring() {
    std::vector<std::byte> taken;
    while (!reader.done()) {
      writer.advance();
      const auto piece = reader.piece();
      taken.insert(taken.end(), piece.begin(), piece.end());
      if (!piece.empty()) reader.consume(piece.size());
    }
    return taken;
  }

  TestChannel channel;
  ChannelWriter writer{channel.channel()};
  ChannelReader reader{channel.channel()};
  std::vector<std::byte> payload = std::vector<std::byte>(384);
  const MessageHeader header{.fingerprint = 7, .bytes = 384};
};

TEST_F(ChannelRecall, SendsThroughTheRingWhatNobodyHasComeFor) {
  for (int message = 0; message < 9; ++message) {  // More than there are envelopes.
    send();
    ASSERT_TRUE(writer.recall());
    EXPECT_FALSE(writer.recall());  // Once.
    EXPECT_FALSE(writer.done());
    EXPECT_TRUE(writer.advance());  // It need not wait for the consumer while there is room.
    ASSERT_EQ(reader.open()->bytes, 384U);
    EXPECT_EQ(reader.settle(), Mover::recalled);
    EXPECT_EQ(reader.place(), 0U);
    EXPECT_EQ(take_through_ring(), payload);
    EXPECT_TRUE(writer.done());
    EXPECT_TRUE(writer.all_taken());
  }
}

TEST_F(ChannelRecall, IsTooLateOnceTheConsumerHasIt) {
  send();
  ASSERT_TRUE(reader.open());
  EXPECT_EQ(reader.settle(), Mover::taken);
  EXPECT_FALSE(writer.recall());
  EXPECT_EQ(reader.place(), 4096U);
  reader.consume_in_place();
  EXPECT_TRUE(writer.advance());
  EXPECT_TRUE(writer.done());
}

TEST_F(ChannelRecall, IsTooLateOnceTheConsumerIsBeyondIt) {
  for (const bool withdrawn : {false, true}) {
    send();
    ASSERT_TRUE(reader.open());
    ASSERT_EQ(reader.settle(), Mover::taken);
    reader.consume_in_place();
    reader.offer(header, 5);  // For the next one.
    if (withdrawn) reader.withdraw();
    EXPECT_FALSE(writer.recall());
    EXPECT_TRUE(writer.advance());
    EXPECT_TRUE(writer.done());
    reader.withdraw();
  }
}

TEST_F(ChannelRecall, MayTurnTheConsumersOfferDown) {
  reader.offer(header, 5);
  send();
  ASSERT_TRUE(writer.recall());
  EXPECT_FALSE(writer.claim());
  ASSERT_TRUE(reader.open());
  EXPECT_EQ(reader.settle(), Mover::recalled);
  EXPECT_EQ(take_through_ring(), payload);
}

TEST_F(ChannelRecall, IsNotUndoneByAnOfferThatComesAfterIt) {
  send();
  ASSERT_TRUE(writer.recall());
  reader.offer(header, 5);
  EXPECT_FALSE(writer.claim());
  ASSERT_TRUE(reader.open());
  EXPECT_EQ(reader.settle(), Mover::recalled);
  EXPECT_EQ(take_through_ring(), payload);
}

TEST_F(ChannelRecall, LeavesTheNextMessageItsPlaceAndItsOffer) {
  send();
  ASSERT_TRUE(writer.recall());
  ASSERT_TRUE(reader.open());
  ASSERT_EQ(reader.settle(), Mover::recalled);
  take_through_ring();
  reader.offer(header, 5);
  send();
  EXPECT_EQ(writer.claim(), 5U);
  ASSERT_TRUE(reader.open());
  writer.deliver();
  EXPECT_EQ(reader.settle(), Mover::delivered);
}

// Every payload gets to `to` once, by one way of three; a copy that began too late, or twice, would be seen.
TEST(ChannelOfferOnTwoThreads, EachPayloadIsMovedByOneOfTheTwoOrThroughTheRing) {
  constexpr std::uint64_t kMessages = 20'000;
  constexpr std::size_t kWords = 32;
  TestChannel channel;
  std::vector<std::uint64_t> from(kWords);
  std::vector<std::uint64_t> to(kWords);
  std::uint64_t pushed = 0;
  std::uint64_t recalled = 0;
  const MessageHeader header{.fingerprint = 3, .bytes = kWords * 8};
  const auto pause = [](std::minstd_rand& random) {
    for (auto turns = random() % 64; turns > 0; --turns) std::this_thread::yield();
  };

  std::thread producer([&] {
    std::minstd_rand random(1);
    ChannelWriter writer(channel.channel());
    for (std::uint64_t message = 1; message <= kMessages; ++message) {
      for (std::size_t i = 0; i < kWords; ++i) from[i] = message * kWords + i;
      if (message % 3 == 0) pause(random);
      const bool may_recall = message % 2 == 0;
      while (may_recall && !writer.all_taken()) std::this_thread::yield();
      writer.open(header, std::as_bytes(std::span(from)).data(), 1);
      for (std::uint64_t looks = 0; !writer.done(); ++looks) {
        if (writer.advance()) continue;
        if (writer.claim()) {
          to = from;
          ++pushed;
          writer.deliver();
        } else if (may_recall && looks > message % 17 && writer.recall()) {
          ++recalled;
        } else {
          std::this_thread::yield();
        }
      }
    }
  });
  std::minstd_rand random(2);
  ChannelReader reader(channel.channel());
  std::uint64_t wrong = 0;
  for (std::uint64_t message = 1; message <= kMessages; ++message) {
    if (message % 4 != 0) reader.offer(header, 1);
    if (message % 5 < 3) pause(random);
    while (!reader.open()) std::this_thread::yield();
    Mover mover = reader.settle();
    for (; mover == Mover::claimed; mover = reader.settle()) std::this_thread::yield();
    if (mover == Mover::taken) to = from;
    for (std::size_t filled = 0; mover == Mover::recalled && !reader.done();) {
      const auto piece = reader.piece();
      std::memcpy(std::as_writable_bytes(std::span(to)).data() + filled, piece.data(), piece.size());
      filled += piece.size();
      if (piece.empty()) std::this_thread::yield();
      if (!piece.empty()) reader.consume(piece.size());
    }
    for (std::size_t i = 0; i < kWords; ++i) wrong += to[i] == message * kWords + i ? 0U : 1U;
    if (mover != Mover::recalled) reader.consume_in_place();
  }
  producer.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(pushed, 0U);
  EXPECT_GT(recalled, 0U);
  EXPECT_LT(pushed + recalled, kMessages);
}

}  // namespace
}  // namespace shoal::detail

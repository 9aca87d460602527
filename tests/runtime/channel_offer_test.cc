#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "channel.h"

// Payloads that stay where they are until the consumer takes them, or the producer puts them where the consumer has
// offered: first step by step, then a thread at each end, which both want to copy.

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
    EXPECT_EQ(reader.settle(), Offer::claimed);
    EXPECT_EQ(reader.settle(), Offer::claimed);
    writer.deliver();
    EXPECT_TRUE(writer.done());
    EXPECT_EQ(reader.settle(), Offer::delivered);
    reader.consume_in_place();
    EXPECT_TRUE(writer.all_taken());
    EXPECT_EQ(reader.settle(), Offer::none);  // It is not delivered twice.
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
  EXPECT_EQ(reader.settle(), Offer::none);
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
    EXPECT_EQ(reader.settle(), Offer::none);
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
  EXPECT_EQ(reader.settle(), Offer::none);
}

// Every payload gets to `to` once, by the one or the other; a copy of each that began too late would be seen.
TEST(ChannelOfferOnTwoThreads, OneOfTheTwoCopiesEachPayload) {
  constexpr std::uint64_t kMessages = 20'000;
  constexpr std::size_t kWords = 32;
  TestChannel channel;
  std::vector<std::uint64_t> from(kWords);
  std::vector<std::uint64_t> to(kWords);
  std::uint64_t pushed = 0;
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
      writer.open(header, nullptr, 1);
      while (!writer.done()) {
        if (writer.advance()) continue;
        if (!writer.claim()) {
          std::this_thread::yield();
          continue;
        }
        to = from;
        ++pushed;
        writer.deliver();
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
    Offer offer = reader.settle();
    for (; offer == Offer::claimed; offer = reader.settle()) std::this_thread::yield();
    if (offer == Offer::none) to = from;
    for (std::size_t i = 0; i < kWords; ++i) wrong += to[i] == message * kWords + i ? 0U : 1U;
    reader.consume_in_place();
  }
  producer.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(pushed, 0U);
  EXPECT_LT(pushed, kMessages);
}

}  // namespace
}  // namespace shoal::detail

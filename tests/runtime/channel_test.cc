#include "channel.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

// The ring on plain arrays: first one thread step by step, then a thread at each end.

namespace shoal::detail {
namespace {

struct TestChannel {
  explicit TestChannel(std::size_t ring_bytes) : envelopes(ring_bytes / 64), ring(ring_bytes) {}
  Channel channel() { return {.control = *control, .envelopes = envelopes, .ring = ring}; }
  ChannelWriter writer() { return ChannelWriter(channel()); }
  ChannelReader reader() { return ChannelReader(channel()); }

  std::unique_ptr<ChannelControl> control = std::make_unique<ChannelControl>();
  std::vector<Envelope> envelopes;
  std::vector<std::byte> ring;
};

// Distinct for each message and position.
std::vector<std::byte> content(std::uint64_t message, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<std::byte>((message * 31 + i * 7 + (i >> 8)) & 0xff);
  }
  return data;
}

// Writes as much as fits; returns whether the message is complete.
bool write(ChannelWriter& writer, std::uint64_t fingerprint, const std::vector<std::byte>& data) {
  writer.open({.fingerprint = fingerprint, .bytes = data.size()}, data.data());
  while (!writer.done() && writer.advance()) {
  }
  return writer.done();
}

// Takes what has arrived of the open message.
void take(ChannelReader& reader, std::vector<std::byte>& into) {
  while (!reader.done()) {
    const auto piece = reader.piece();
    if (piece.empty()) {
      return;
    }
    into.insert(into.end(), piece.begin(), piece.end());
    reader.consume(piece.size());
  }
}

TEST(Channel, SmallMessageRidesInItsEnvelopeAndLeavesTheRingUntouched) {
  for (std::size_t bytes = 0; bytes <= kInlineBytes; ++bytes) {
    TestChannel channel(256);
    auto writer = channel.writer();
    auto reader = channel.reader();
    ASSERT_TRUE(write(writer, 77, content(1, bytes)));
    for (const std::byte untouched : channel.ring) {
      ASSERT_EQ(untouched, std::byte{0});
    }
    const auto header = reader.open();
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->fingerprint, 77U);
    EXPECT_EQ(header->bytes, bytes);
    std::vector<std::byte> got;
    take(reader, got);
    EXPECT_EQ(got, content(1, bytes));
    EXPECT_FALSE(reader.open().has_value());
  }
}

TEST(Channel, MessageJustTooLongForItsEnvelopeTravelsThroughTheRing) {
  TestChannel channel(256);
  auto writer = channel.writer();
  auto reader = channel.reader();
  ASSERT_TRUE(write(writer, 5, content(2, kInlineBytes + 1)));
  EXPECT_NE(channel.ring[0], std::byte{0});
  ASSERT_EQ(reader.open()->bytes, kInlineBytes + 1);
  std::vector<std::byte> got;
  take(reader, got);
  EXPECT_EQ(got, content(2, kInlineBytes + 1));
}

TEST(Channel, SmallMessagesBehindOneAnotherKeepTheirOrderAndContent) {
  TestChannel channel(256);
  auto writer = channel.writer();
  auto reader = channel.reader();
  for (std::uint64_t round = 0; round < 50; ++round) {
    for (std::uint64_t message = 0; message < 4; ++message) {
      ASSERT_TRUE(write(writer, message, content(round + message, 8 + message)));
    }
    for (std::uint64_t message = 0; message < 4; ++message) {
      const auto header = reader.open();
      ASSERT_TRUE(header.has_value());
      ASSERT_EQ(header->fingerprint, message);
      std::vector<std::byte> got;
      take(reader, got);
      ASSERT_EQ(got, content(round + message, 8 + message));
    }
  }
}

TEST(Channel, FullChannelTakesNoPayloadUntilRoomIsGivenBack) {
  TestChannel channel(512);
  auto writer = channel.writer();
  auto reader = channel.reader();
  // 96 bytes at a time: five leave 32 of 512, into which the sixth puts its beginning.
  for (std::uint64_t message = 0; message < 5; ++message) {
    ASSERT_TRUE(write(writer, message, content(message, 96)));
  }
  const auto sixth = content(5, 96);
  writer.open({.fingerprint = 5, .bytes = sixth.size()}, sixth.data());
  EXPECT_TRUE(writer.advance());
  EXPECT_FALSE(writer.advance());
  EXPECT_FALSE(writer.done());
  for (std::uint64_t message = 0; message < 5; ++message) {
    std::vector<std::byte> got;
    ASSERT_EQ(reader.open()->fingerprint, message);
    take(reader, got);
    EXPECT_EQ(got, content(message, 96));
  }
  std::vector<std::byte> got;
  ASSERT_EQ(reader.open()->bytes, 96U);
  take(reader, got);
  EXPECT_EQ(got.size(), 32U);
  EXPECT_TRUE(reader.piece().empty());
  EXPECT_TRUE(writer.advance());
  EXPECT_TRUE(writer.done());
  take(reader, got);
  EXPECT_EQ(got, sixth);
  EXPECT_TRUE(writer.all_taken());
}

TEST(Channel, HoldsAsManyMessagesAsItHasEnvelopes) {
  for (const std::size_t bytes : {0U, 8U}) {
    TestChannel channel(4096);
    auto writer = channel.writer();
    auto reader = channel.reader();
    for (std::uint64_t turn = 0; turn < 3; ++turn) {  // 64 of them, from another envelope each time.
      ASSERT_TRUE(channel.channel().all_messages_taken());
      for (std::uint64_t message = 0; message < 64; ++message)
        ASSERT_TRUE(write(writer, message, content(message, bytes)));
      const auto one_more = content(64, bytes);
      EXPECT_FALSE(write(writer, 64, one_more));
      EXPECT_FALSE(channel.channel().all_messages_taken());
      for (std::uint64_t message = 0; message < 64; ++message) {
        std::vector<std::byte> got;
        ASSERT_EQ(reader.open()->fingerprint, message);
        take(reader, got);
        ASSERT_EQ(got, content(message, bytes));
      }
      while (!writer.done()) ASSERT_TRUE(writer.advance());
      ASSERT_EQ(reader.open()->fingerprint, 64U);
      std::vector<std::byte> got;
      take(reader, got);
      ASSERT_EQ(got, content(64, bytes));
    }
  }
}

TEST(Channel, PayloadInMemoryOfBothSidesStaysThereUntilItIsConsumed) {
  TestChannel channel(256);
  auto writer = channel.writer();
  auto reader = channel.reader();
  for (std::uint64_t turn = 0; turn < 5; ++turn) {
    const auto before = content(turn, 30);
    ASSERT_TRUE(write(writer, 1, before));
    const auto shared = content(turn, 1000);
    writer.open({.fingerprint = 2, .bytes = 1000}, shared.data(), 12345);
    EXPECT_TRUE(writer.advance());
    EXPECT_FALSE(writer.done());
    std::vector<std::byte> got;
    ASSERT_TRUE(reader.open().has_value());
    take(reader, got);
    EXPECT_EQ(got, before);
    EXPECT_FALSE(writer.advance());  // Taken is the message before.
    ASSERT_EQ(reader.open()->bytes, 1000U);
    EXPECT_EQ(reader.place(), 12345U);
    EXPECT_TRUE(reader.piece().empty());
    EXPECT_FALSE(reader.done());
    EXPECT_FALSE(writer.advance());
    reader.consume_in_place();
    EXPECT_TRUE(reader.done());
    EXPECT_TRUE(writer.advance());
    EXPECT_TRUE(writer.done());
    EXPECT_TRUE(writer.all_taken());
    for (const std::byte untouched : channel.ring) ASSERT_EQ(untouched, std::byte{0});
    const auto after = content(turn, 41);  // And what follows is copied again.
    ASSERT_TRUE(write(writer, 3, after));
    ASSERT_EQ(reader.open()->bytes, 41U);
    EXPECT_EQ(reader.place(), 0U);
    got.clear();
    take(reader, got);
    EXPECT_EQ(got, after);
    std::ranges::fill(channel.ring, std::byte{0});
  }
}

TEST(Channel, MessageManyTimesTheRingArrivesWhole) {
  for (const std::size_t bytes : {256U, 257U, 1000U, 4096U, 100'003U}) {
    TestChannel channel(256);
    auto writer = channel.writer();
    auto reader = channel.reader();
    const auto sent = content(9, bytes);
    writer.open({.fingerprint = 1, .bytes = bytes}, sent.data());
    std::vector<std::byte> got;
    bool opened = false;
    while (got.size() < bytes) {
      const bool moved = !writer.done() && writer.advance();
      if (!opened) {
        opened = reader.open().has_value();
      }
      const std::size_t before = got.size();
      take(reader, got);
      ASSERT_TRUE(moved || got.size() > before) << "stuck at " << got.size() << " of " << bytes;
    }
    EXPECT_TRUE(writer.done());
    EXPECT_EQ(got, sent);
  }
}

TEST(Channel, PiecesButTheLastAreWholeElements) {
  TestChannel channel(256);
  auto writer = channel.writer();
  auto reader = channel.reader();
  const auto sent = content(3, 8 * 501);
  writer.open({.fingerprint = 1, .bytes = sent.size()}, sent.data());
  writer.advance();
  ASSERT_TRUE(reader.open().has_value());
  std::size_t taken = 0;
  while (taken < sent.size()) {
    const auto piece = reader.piece();
    if (piece.empty()) {
      ASSERT_TRUE(writer.advance());
      continue;
    }
    if (taken + piece.size() != sent.size()) {
      ASSERT_EQ(piece.size() % kMessageAlignment, 0U);
    }
    taken += piece.size();
    reader.consume(piece.size());
  }
}

TEST(Channel, NewEndsContinueWhereTheOldOnesStopped) {
  TestChannel channel(256);
  for (std::uint64_t message = 0; message < 100; ++message) {
    auto writer = channel.writer();
    auto reader = channel.reader();
    ASSERT_TRUE(write(writer, message, content(message, message)));
    const auto header = reader.open();
    ASSERT_TRUE(header.has_value());
    ASSERT_EQ(header->fingerprint, message);
    std::vector<std::byte> got;
    take(reader, got);
    ASSERT_EQ(got, content(message, message));
  }
}

// A release that came before its content, or a line reused too early, shows as wrong bytes here or as a race under
// ThreadSanitizer.
void run_two_threads(std::size_t ring_bytes, std::uint64_t messages, std::size_t longest, std::uint32_t seed) {
  TestChannel channel(ring_bytes);
  const auto length_of = [longest, seed](std::uint64_t message) {
    std::minstd_rand random(seed + static_cast<std::uint32_t>(message) * 2654435761U);
    random.discard(3);
    return static_cast<std::size_t>(random() % (longest + 1));
  };
  std::thread producer([&] {
    auto writer = channel.writer();
    for (std::uint64_t message = 0; message < messages; ++message) {
      const auto data = content(message, length_of(message));
      writer.open({.fingerprint = message, .bytes = data.size()}, data.data());
      while (!writer.done()) {
        if (!writer.advance()) {
          std::this_thread::yield();
        }
      }
    }
  });
  auto reader = channel.reader();
  std::uint64_t wrong = 0;
  for (std::uint64_t message = 0; message < messages; ++message) {
    auto header = reader.open();
    while (!header) {
      std::this_thread::yield();
      header = reader.open();
    }
    std::vector<std::byte> got;
    while (true) {
      take(reader, got);
      if (reader.done()) {
        break;
      }
      std::this_thread::yield();
    }
    const auto expected = content(message, length_of(message));
    if (header->fingerprint != message || header->bytes != expected.size() || got != expected) {
      ++wrong;
    }
  }
  producer.join();
  EXPECT_EQ(wrong, 0U);
}

TEST(ChannelOnTwoThreads, SmallMessagesOverManyWrapsArriveWhole) { run_two_threads(256, 50'000, 60, 1); }
TEST(ChannelOnTwoThreads, MessagesAroundTheRingsSizeArriveWhole) { run_two_threads(256, 10'000, 600, 2); }
TEST(ChannelOnTwoThreads, MessagesOfAKilobyteThroughALargeRingArriveWhole) { run_two_threads(65'536, 10'000, 3000, 3); }

}  // namespace
}  // namespace shoal::detail

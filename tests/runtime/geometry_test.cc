#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "call_book.h"
#include "mapping.h"
#include "shoal/runtime/version.h"
#include "support/errors.h"

namespace shoal {
namespace {

using detail::Geometry;
using test::refusal_of;
using ::testing::HasSubstr;

TEST(Geometry, PartsFollowOneAnotherWithoutOverlap) {
  const Geometry g = Geometry::of({.ranks = 3, .channel_bytes = 1000, .heap_bytes = 5000});
  EXPECT_EQ(g.channel_bytes, 1024U);  // The next power of two.
  EXPECT_EQ(g.heap_bytes, 8192U);     // Whole pages.
  EXPECT_EQ(g.rank_states, 128U + 512U + 128U + 1025 * 640U);
  EXPECT_EQ(g.ledgers, g.rank_states + 3 * sizeof(detail::RankState));
  EXPECT_EQ(g.copies, g.ledgers + 3 * sizeof(detail::Ledger));
  EXPECT_GE(g.flag_lines, g.copies + 9);
  EXPECT_EQ(g.flag_lines % 128, 0U);
  EXPECT_EQ(g.channels, g.flag_lines + 1024 * 3 * 2 * 128U);
  EXPECT_GE(g.envelopes, g.channels + 9 * 256);
  EXPECT_EQ(g.envelopes % 4096, 0U);
  EXPECT_GE(g.rings, g.envelopes + 9 * 1024U);
  EXPECT_EQ(g.rings % 4096, 0U);
  EXPECT_GE(g.heaps, g.rings + 9 * 1024);
  EXPECT_EQ(g.heaps % 4096, 0U);
  EXPECT_EQ(g.staging, g.heaps + 3 * 8192);
  EXPECT_EQ(g.reserved_bytes, g.staging + 3 * 2 * 262'144U);
  EXPECT_EQ(g.segment_bytes, g.staging + 1024 * 3 * 2 * 262'144U);
}

TEST(Geometry, ShapesThatCannotBeAreRefusedByName) {
  const auto text = [](JobShape shape) {
    return refusal_of(ErrorCode::invalid_argument, [&] { Geometry::of(shape); });
  };
  EXPECT_THAT(text({.ranks = 0}), HasSubstr("0 ranks"));
  EXPECT_THAT(text({.ranks = -5}), HasSubstr("-5 ranks"));
  EXPECT_THAT(text({.ranks = 4097}), HasSubstr("4097 ranks"));
  EXPECT_THAT(text({.ranks = 1, .channel_bytes = 0}), HasSubstr("channels of 0"));
  EXPECT_THAT(text({.ranks = 2, .heap_bytes = UINT64_MAX}), HasSubstr("18446744073709551615"));
  EXPECT_THAT(text({.ranks = 4096, .channel_bytes = std::uint64_t{1} << 40}), HasSubstr("more than 64 TiB"));
}

TEST(JobSegment, UntouchedPartsCostNoMemory) {
  const JobSegment segment = JobSegment::create({.ranks = 64, .heap_bytes = std::uint64_t{1} << 30});
  struct stat status {};
  ASSERT_EQ(fstat(segment.descriptor(), &status), 0);
  EXPECT_GT(status.st_size, std::int64_t{64} << 30);
  EXPECT_LT(status.st_blocks * 512, 1 << 20);
}

TEST(JobSegment, CannotBeShrunkUnderItsRanks) {
  const JobSegment segment = JobSegment::create({.ranks = 2});
  EXPECT_NE(ftruncate(segment.descriptor(), 4096), 0);
}

TEST(JobSegment, HeaderBeginsWithMagicLayoutAndReleaseOfItsMaker) {
  const JobSegment segment = JobSegment::create({.ranks = 2});
  detail::SegmentHeader header{};
  ASSERT_EQ(pread(segment.descriptor(), &header, sizeof header, 0), ssize_t{sizeof header});
  EXPECT_EQ(header.magic, detail::kMagic);
  EXPECT_EQ(header.version, detail::kLayoutVersion);
  EXPECT_EQ(header.release, kVersion);
}

TEST(JobSegment, AttachSeesWhatTheMakerWrote) {
  JobSegment segment = JobSegment::create({.ranks = 5, .channel_bytes = 4096, .heap_bytes = 65536});
  const JobSegment attached = JobSegment::attach(segment.reference());
  EXPECT_EQ(attached.ranks(), 5);
  segment.rank_ended(3);
  EXPECT_EQ(attached.phase(3), RankPhase::left);
  EXPECT_EQ(attached.phase(2), RankPhase::absent);
}

TEST(JobSegment, ReferencesThatLeadNowhereAreRefusedByName) {
  const auto text = [](const std::string& reference) {
    return refusal_of(ErrorCode::system, [&] { JobSegment::attach(reference); });
  };
  for (const char* reference : {"", "memfd", "memfd:", "memfd:x", "memfd:-1", "memfd:3x", "memfd:99999999999"}) {
    EXPECT_THAT(text(reference), HasSubstr(fmt::format("SHOAL_JOB={}: not a reference", reference)));
  }
  EXPECT_THAT(text("memfd:987"), HasSubstr("descriptor 987 is not open"));
}

TEST(JobSegment, WhatIsNoSegmentOfThisVersionIsRefused) {
  const int fd = memfd_create("not-a-segment", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  const std::string reference = fmt::format("memfd:{}", fd);
  const auto text = [&] { return refusal_of(ErrorCode::system, [&] { JobSegment::attach(reference); }); };
  EXPECT_THAT(text(), HasSubstr("not a job's segment"));  // Empty.

  detail::SegmentHeader header{};
  const auto write_header = [&] { ASSERT_EQ(pwrite(fd, &header, sizeof header, 0), ssize_t{sizeof header}); };
  header.magic = detail::kMagic + 1;
  write_header();
  EXPECT_THAT(text(), HasSubstr("not a job's segment"));
  header.magic = detail::kMagic;
  header.version = 77;
  std::strcpy(header.release, "12.34.56");
  write_header();
  EXPECT_EQ(text(),
            fmt::format("SHOAL_JOB={}: launcher and program are of different versions: the job was started by shoal "
                        "12.34.56 (segment layout 77), this program has shoal {} (layout {})",
                        reference, kVersion, detail::kLayoutVersion));
  std::fill(std::begin(header.release), std::end(header.release), 'x');  // No end.
  write_header();
  EXPECT_THAT(text(), HasSubstr("by shoal xxxxxxxxxxxxxxxxxxxx (segment"));
  header.version = detail::kLayoutVersion;
  const Geometry geometry = Geometry::of({.ranks = 2, .channel_bytes = 4096, .heap_bytes = 4096});
  header.ranks = 2;
  header.channel_bytes = 4096;
  header.heap_bytes = 4096;
  header.segment_bytes = geometry.segment_bytes;
  write_header();  // The file ends after its header.
  EXPECT_THAT(text(), HasSubstr("size is not what its header says"));
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(geometry.segment_bytes)), 0);
  EXPECT_EQ(JobSegment::attach(reference).ranks(), 2);
  header.ranks = 3;
  write_header();
  EXPECT_THAT(text(), HasSubstr("size is not what its header says"));
  close(fd);
}

TEST(JobSegment, OnlyTheFirstFailureIsKept) {
  JobSegment segment = JobSegment::create({.ranks = 2});
  EXPECT_TRUE(segment.abort({.rank = 1, .kind = FailureKind::signal, .code = 9, .message = "first"}));
  EXPECT_FALSE(segment.abort({.rank = 0, .kind = FailureKind::exit, .code = 1, .message = "second"}));
  EXPECT_EQ(segment.mapping().job().rank, 1);
  EXPECT_STREQ(segment.mapping().job().text, "first");
}

TEST(JobSegment, ValuesThatARankMayHaveWrittenAnywhereAreReadSafely) {
  const JobSegment segment = JobSegment::create({.ranks = 2});
  auto& world = segment.mapping().communicator(detail::kAnyCommunicator);
  world.code = 4'000'000'000;
  world.rank = 1 << 30;
  std::fill(std::begin(world.text), std::end(world.text), 'x');  // No end.
  world.broken.store(static_cast<std::uint32_t>(detail::Once::set), std::memory_order_release);
  const auto failure = segment.first_error();
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->rank, -1);
  EXPECT_EQ(failure->message.size(), detail::kTextBytes);

  auto& state = segment.mapping().rank(1);
  state.phase.store(77, std::memory_order_release);
  EXPECT_EQ(segment.phase(1), RankPhase::left);
  state.calls_begun.store(UINT64_MAX, std::memory_order_release);
  EXPECT_FALSE(segment.last_call(1));
  auto& record = state.records[UINT64_MAX % detail::kRecordCount];
  record.kinds.store(UINT64_MAX, std::memory_order_release);
  record.number.store(UINT64_MAX, std::memory_order_release);
  state.awaits.store(UINT64_MAX, std::memory_order_release);
  const auto last = segment.last_call(1);
  ASSERT_TRUE(last);
  EXPECT_EQ(segment.awaited_by(1), -1);
  EXPECT_THAT(describe(*last), HasSubstr("unknown number 0"));
}

TEST(JobSegment, AnErrorThatARankMetIsThatOfItsLastCallOrNone) {
  const JobSegment segment = JobSegment::create({.ranks = 3});
  auto& state = segment.mapping().rank(1);
  EXPECT_FALSE(segment.met_error(1));
  state.calls_begun.store(5, std::memory_order_release);
  detail::note_gave_up(state, 2);
  EXPECT_TRUE(segment.met_error(1));
  EXPECT_EQ(segment.gave_up_on(1), 2);
  detail::note_gave_up(state, -1);
  EXPECT_TRUE(segment.met_error(1));
  EXPECT_EQ(segment.gave_up_on(1), -1);
  state.gave_up.store(5 << detail::kAwaitedBits | 4, std::memory_order_release);  // A rank that is none.
  EXPECT_EQ(segment.gave_up_on(1), -1);
  detail::note_gave_up(state, 0);
  state.calls_begun.store(6, std::memory_order_release);
  EXPECT_FALSE(segment.met_error(1));
  EXPECT_EQ(segment.gave_up_on(1), -1);
}

}  // namespace
}  // namespace shoal

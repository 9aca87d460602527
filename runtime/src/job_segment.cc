#include "shoal/runtime/job_segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <boost/interprocess/exceptions.hpp>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "call_book.h"
#include "cut_memory.h"
#include "mapping.h"
#include "segment_file.h"
#include "shared_text.h"
#include "shoal/runtime/cores.h"
#include "shoal/runtime/error.h"
#include "shoal/runtime/version.h"
#include "wait.h"

// Making, attaching and reading a job's segment. See docs/shared_memory.md.

namespace shoal {
namespace {

using detail::Geometry;
using detail::Once;

constexpr std::uint64_t kPage = 4096;
constexpr std::string_view kReferencePrefix = "memfd:";

std::uint64_t page_aligned(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

[[noreturn]] void fail_system(const std::string& what, int error) {
  throw Error(ErrorCode::system, fmt::format("{}: {}", what, std::generic_category().message(error)));
}

// Of the cores that so many ranks would be spread over, the first and the last.
std::pair<int, int> far_apart(const std::vector<int>& cores, int ranks) {
  const std::size_t used = std::min(cores.size(), static_cast<std::size_t>(ranks));
  return used < 2 ? std::pair(cores.empty() ? -1 : cores.front(), -1) : std::pair(cores.front(), cores[used - 1]);
}

// What Boost.Interprocess maps: any type that names its handle.
struct Descriptor {
  int fd;
  boost::interprocess::mapping_handle_t get_mapping_handle() const { return {fd, false}; }
};

boost::interprocess::mapped_region map(int fd, const Geometry& geometry) {
  try {
    return {Descriptor{fd}, boost::interprocess::read_write, 0, geometry.segment_bytes};
  } catch (const boost::interprocess::interprocess_exception& error) {
    fail_system(fmt::format("shared memory of {} bytes cannot be mapped", geometry.segment_bytes),
                error.get_native_error());
  }
}

}  // namespace

std::string_view name(FailureKind kind) {
  switch (kind) {
    case FailureKind::exit:
      return "exit";
    case FailureKind::signal:
      return "signal";
    case FailureKind::left:
      return "left";
    case FailureKind::timeout:
      return "timeout";
    case FailureKind::stall:
      return "stall";
    case FailureKind::mismatch:
      return "mismatch";
  }
  return "unknown";
}

namespace detail {

Geometry Geometry::of(const JobShape& shape) {
  const auto refuse = [](const std::string& text) { throw Error(ErrorCode::invalid_argument, text); };
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;  // What a process can map, less room for the rest.
  if (shape.ranks < 1 || shape.ranks > kMostRanks) {
    refuse(fmt::format("{} ranks: a job has 1 to {}", shape.ranks, kMostRanks));
  }
  if (shape.channel_bytes < 1 || shape.channel_bytes > kMostBytes || shape.heap_bytes > kMostBytes) {
    refuse(fmt::format("channels of {} and heaps of {} bytes: channels take 1 byte to 64 TiB, heaps 0 to 64 TiB",
                       shape.channel_bytes, shape.heap_bytes));
  }
  Geometry geometry{.ranks = static_cast<std::uint32_t>(shape.ranks),
                    .channel_bytes = std::bit_ceil(std::max<std::uint64_t>(shape.channel_bytes, kSmallestRing)),
                    .heap_bytes = page_aligned(std::max<std::uint64_t>(shape.heap_bytes, 1))};
  const std::uint64_t ranks = geometry.ranks;
  const std::uint64_t pairs = ranks * ranks;
  if (geometry.channel_bytes > kMostBytes / pairs || geometry.heap_bytes > kMostBytes / ranks) {
    refuse(fmt::format("{} ranks with channels of {} and heaps of {} bytes need more than 64 TiB", ranks,
                       shape.channel_bytes, shape.heap_bytes));
  }
  geometry.rank_states = kRankStatesOffset;
  geometry.ledgers = geometry.rank_states + ranks * sizeof(RankState);
  geometry.copies = geometry.ledgers + ranks * sizeof(Ledger);
  geometry.flag_lines = page_aligned(geometry.copies + pairs);
  geometry.channels = geometry.flag_lines + kCommunicators * ranks * 2 * sizeof(FlagLine);
  geometry.envelopes = page_aligned(geometry.channels + pairs * sizeof(ChannelControl));
  geometry.rings =
      page_aligned(geometry.envelopes + pairs * envelopes_beside(geometry.channel_bytes) * sizeof(Envelope));
  geometry.heaps = page_aligned(geometry.rings + pairs * geometry.channel_bytes);
  geometry.staging = geometry.heaps + ranks * geometry.heap_bytes;
  geometry.reserved_bytes = geometry.staging + ranks * 2 * kStagingBytes;
  geometry.segment_bytes = geometry.staging + kCommunicators * ranks * 2 * kStagingBytes;
  return geometry;
}

std::string fate(FailureKind kind, int code) {
  switch (kind) {
    case FailureKind::exit:
      return fmt::format("it exited with status {}", code);
    case FailureKind::signal: {
      const char* abbreviation = sigabbrev_np(code);
      return abbreviation != nullptr ? fmt::format("it was ended by SIG{}", abbreviation)
                                     : fmt::format("it was ended by signal {}", code);
    }
    case FailureKind::left:
      return "it left";
    case FailureKind::timeout:
      return "the job's time was up";
    case FailureKind::stall:
      return "the job stalled";
    case FailureKind::mismatch:
      return "its call did not fit the others'";
  }
  return "it failed";
}

}  // namespace detail

JobSegment::Mapping::Mapping(int fd, bool owns, const Geometry& shape)
    : descriptor(fd), owned(owns), geometry(shape), region(map(fd, shape)) {}

JobSegment::Mapping::~Mapping() {
  detail::forget_cuts(&at<std::byte>(0));
  if (owned) {
    close(descriptor);
  }
}

bool JobSegment::Mapping::reserve_staging(std::uint32_t slot, int rank) const noexcept {
  if (header().reserved == 0) return true;
  std::byte* const begin = staging(slot, rank, 0).data();
  const std::size_t bytes = 2 * detail::kStagingBytes;
  if (madvise(begin, bytes, MADV_POPULATE_WRITE) == 0) return true;
  if (errno != EINVAL) return false;  // Kernels before 5.14 do not know it.
  return posix_fallocate(descriptor, begin - &at<std::byte>(0), static_cast<off_t>(bytes)) == 0;
}

void JobSegment::Mapping::wake_all() const noexcept {
  for (std::uint32_t rank = 0; rank < geometry.ranks; ++rank) {
    detail::wake(this->rank(static_cast<int>(rank)));
  }
}

JobSegment::JobSegment(std::shared_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}

std::uint64_t JobSegment::bytes_needed(const JobShape& shape) { return Geometry::of(shape).segment_bytes; }
std::uint64_t JobSegment::bytes_reserved(const JobShape& shape) { return Geometry::of(shape).reserved_bytes; }

JobSegment JobSegment::create(const JobShape& shape) {
  const Geometry geometry = Geometry::of(shape);
  auto [fd, reserved] = detail::make_segment_file(geometry.segment_bytes, geometry.reserved_bytes);
  // Out of the way of the low numbers that shells and their scripts use: `exec 3<file` would replace it.
  constexpr int kOutOfTheWay = 64;
  if (const int high = fcntl(fd, F_DUPFD_CLOEXEC, kOutOfTheWay); high >= 0) {
    close(fd);
    fd = high;
  }
  std::shared_ptr<Mapping> mapping;
  try {
    mapping = std::make_shared<Mapping>(fd, true, geometry);
  } catch (...) {
    close(fd);
    throw;
  }
  // The rest is zero as the kernel gave it, and zero is every field's first value.
  auto* header = new (&mapping->header()) detail::SegmentHeader{};
  header->version = detail::kLayoutVersion;
  static_assert(kVersion.size() < detail::kReleaseBytes);
  detail::copy_text(header->release, kVersion);
  header->ranks = geometry.ranks;
  header->segment_bytes = geometry.segment_bytes;
  header->channel_bytes = geometry.channel_bytes;
  header->heap_bytes = geometry.heap_bytes;
  const AllowedCores allowed = allowed_cores();
  header->cores = static_cast<std::uint32_t>(allowed.count());
  const auto [one, other] = far_apart(allowed.cores, shape.ranks);
  header->hop_cores[0] = one;
  header->hop_cores[1] = other;
  header->reserved = reserved ? 1 : 0;
  header->magic = detail::kMagic;
  return JobSegment(std::move(mapping));
}

JobSegment JobSegment::attach(const std::string& reference) {
  const auto refuse = [&reference](const std::string& why) {
    throw Error(ErrorCode::system, fmt::format("SHOAL_JOB={}: {}", reference, why));
  };
  int fd = -1;
  const std::string_view text(reference);
  if (!text.starts_with(kReferencePrefix)) {
    refuse("not a reference to a job");
  }
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + kReferencePrefix.size(), end, fd);
  if (error != std::errc{} || rest != end || fd < 0) {
    refuse("not a reference to a job");
  }
  struct stat status {};
  if (fstat(fd, &status) != 0) {
    refuse(fmt::format("descriptor {} is not open in this process; was it closed by the program that started it?", fd));
  }
  detail::SegmentHeader header{};
  if (pread(fd, &header, sizeof header, 0) != sizeof header || header.magic != detail::kMagic) {
    refuse(fmt::format("descriptor {} is not a job's segment", fd));
  }
  if (header.version != detail::kLayoutVersion) {
    refuse(fmt::format(
        "launcher and program are of different versions: the job was started by shoal {} (segment layout {}), this "
        "program has shoal {} (layout {})",
        detail::text_of(header.release), header.version, kVersion, detail::kLayoutVersion));
  }
  const int ranks = header.ranks <= detail::kMostRanks ? static_cast<int>(header.ranks) : 0;
  const Geometry geometry =
      Geometry::of({.ranks = ranks, .channel_bytes = header.channel_bytes, .heap_bytes = header.heap_bytes});
  if (geometry.segment_bytes != header.segment_bytes || status.st_size != static_cast<off_t>(geometry.segment_bytes)) {
    refuse("the segment's size is not what its header says");
  }
  return JobSegment(std::make_shared<Mapping>(fd, false, geometry));
}

std::string JobSegment::reference() const { return fmt::format("{}{}", kReferencePrefix, mapping_->descriptor); }
int JobSegment::descriptor() const { return mapping_->descriptor; }
int JobSegment::ranks() const { return static_cast<int>(mapping_->geometry.ranks); }

void JobSegment::survive_cuts() const noexcept {
  detail::survive_cuts(&mapping_->at<std::byte>(0), mapping_->geometry.segment_bytes);
}

bool JobSegment::was_cut() const noexcept {
  struct stat status {};
  return detail::cut_was_survived(&mapping_->at<std::byte>(0)) ||
         (fstat(descriptor(), &status) == 0 && status.st_size < static_cast<off_t>(mapping_->geometry.segment_bytes));
}

bool JobSegment::abort(const FirstFailure& failure) noexcept {
  detail::JobState& job = mapping_->job();
  auto expected = static_cast<std::uint32_t>(Once::unset);
  if (!job.aborted.compare_exchange_strong(expected, static_cast<std::uint32_t>(Once::being_written),
                                           std::memory_order_relaxed)) {
    return false;
  }
  job.rank = failure.rank;
  job.kind = static_cast<std::uint32_t>(failure.kind);
  job.code = failure.code;
  detail::copy_text(job.text, failure.message);
  // Pairs with the acquire in ShmFabric::check; and, sequentially consistent, precedes the look at `sleeping`.
  job.aborted.store(static_cast<std::uint32_t>(Once::set), std::memory_order_seq_cst);
  mapping_->wake_all();
  return true;
}

void JobSegment::rank_ended(int rank) noexcept {
  // Pairs with the acquire in ShmFabric::check: all that the rank sent is seen before it is seen to have left.
  mapping_->rank(rank).phase.store(static_cast<std::uint32_t>(RankPhase::left), std::memory_order_seq_cst);
  mapping_->wake_all();
}

std::optional<FirstFailure> JobSegment::first_error() const {
  const detail::CommunicatorState& first = mapping_->communicator(detail::kAnyCommunicator);
  if (first.broken.load(std::memory_order_acquire) != static_cast<std::uint32_t>(Once::set)) {
    return std::nullopt;
  }
  const auto known = [this](std::int32_t rank) { return rank >= 0 && rank < ranks() ? rank : -1; };
  FirstFailure failure{
      .rank = known(first.rank), .kind = FailureKind::exit, .code = 1, .message = detail::text_of(first.text)};
  switch (static_cast<ErrorCode>(first.code)) {
    case ErrorCode::peer_lost:
      failure.rank = known(first.peer);
      failure.kind = FailureKind::left;
      break;
    case ErrorCode::mismatch:
      failure.kind = FailureKind::mismatch;
      break;
    case ErrorCode::timeout:
      failure.kind = FailureKind::timeout;
      break;
    default:
      break;
  }
  return failure;
}

RankPhase JobSegment::phase(int rank) const {
  const std::uint32_t phase = mapping_->rank(rank).phase.load(std::memory_order_acquire);
  return phase <= static_cast<std::uint32_t>(RankPhase::left) ? static_cast<RankPhase>(phase) : RankPhase::left;
}

std::int32_t JobSegment::process(int rank) const { return mapping_->rank(rank).owner.load(std::memory_order_relaxed); }

Traffic JobSegment::traffic(int rank) const { return detail::read_ledger(mapping_->ledger(rank)); }

std::optional<LastCall> JobSegment::last_call(int rank) const {
  const detail::RankState& state = mapping_->rank(rank);
  const auto recorded = detail::read_call(state, state.calls_begun.load(std::memory_order_acquire));
  if (!recorded) return std::nullopt;
  LastCall last{.call = recorded->call,
                .number = 0,
                .sequence = recorded->sequence,
                .in_world = recorded->communicator == 0,
                .returned = recorded->returned,
                .failed = recorded->failed};
  const auto operation = static_cast<std::size_t>(last.call.operation);
  if (operation < kOperationCount)
    for (const detail::LedgerRow& row : mapping_->ledger(rank).rows[operation])
      last.number += row.calls.load(std::memory_order_relaxed);
  return last;
}

int JobSegment::awaited_by(int rank) const { return detail::awaited_by(mapping_->rank(rank), ranks()); }
bool JobSegment::met_error(int rank) const { return detail::read_gave_up(mapping_->rank(rank), ranks()).met_error; }
int JobSegment::gave_up_on(int rank) const { return detail::read_gave_up(mapping_->rank(rank), ranks()).awaited; }

std::vector<PastCall> JobSegment::recent_calls(int rank) const {
  using Time = std::chrono::steady_clock::time_point;
  const detail::RankState& state = mapping_->rank(rank);
  const std::uint64_t last = state.calls_begun.load(std::memory_order_acquire);
  std::vector<PastCall> calls;
  for (std::uint64_t back = std::min(last, detail::kRecordCount); back > 0; --back) {
    const std::uint64_t number = last - back + 1;
    const auto recorded = detail::read_call(state, number);
    if (!recorded) continue;
    PastCall call{.number = number,
                  .call = recorded->call,
                  .sequence = recorded->sequence,
                  .begun = Time(recorded->begun),
                  .ended = std::nullopt,
                  .failed = recorded->failed};
    if (recorded->ended.count() != 0) call.ended = Time(recorded->ended);
    calls.push_back(call);
  }
  return calls;
}

std::uint64_t JobSegment::progress() const {
  std::uint64_t digest = 0;
  const auto mix = [&digest](std::uint64_t value) { digest = (digest ^ value) * 0x100000001b3; };  // FNV-1a, by words.
  for (int rank = 0; rank < ranks(); ++rank) {
    const detail::RankState& state = mapping_->rank(rank);
    mix(state.calls_begun.load(std::memory_order_relaxed));
    mix(state.calls_returned.load(std::memory_order_relaxed));
    for (const auto& rows : mapping_->ledger(rank).rows) {
      for (const detail::LedgerRow& row : rows) {
        mix(row.sent.load(std::memory_order_relaxed));
        mix(row.received.load(std::memory_order_relaxed));
      }
    }
    // The pages of channels that were never used would be had by looking at them: too many of a large job.
    constexpr int kMostLookedAt = 256;
    for (int peer = 0; ranks() <= kMostLookedAt && peer < ranks(); ++peer) {
      const detail::ChannelControl& control = mapping_->channel(rank, peer).control;
      mix(control.producer.head.load(std::memory_order_relaxed));
      mix(control.consumer.tail.load(std::memory_order_relaxed));
      mix(control.consumer.taken.load(std::memory_order_relaxed));
    }
  }
  return digest;
}

std::string describe(const LastCall& last) {
  const std::string call = describe(last.call);  // "all_reduce (ring, ...)"
  const std::size_t end = call.find(" (");
  std::string text = fmt::format("{} number {}{}", call.substr(0, end), last.number, call.substr(end));
  if (last.sequence != 0)
    text += fmt::format(", call {} of {}", last.sequence, last.in_world ? "the world" : "another communicator");
  return text;
}

}  // namespace shoal

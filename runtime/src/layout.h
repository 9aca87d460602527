#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "flag_line.h"
#include "shoal/runtime/calibration.h"
#include "shoal/runtime/job_segment.h"
#include "shoal/runtime/operation.h"

// The bytes of a job's segment (drawn in docs/shared_memory.md). Everything here is shared between processes:
// standard layout, fixed widths, no pointers. Fields with different writers lie two cache lines apart, since
// processors fetch lines in pairs.

namespace shoal::detail {

inline constexpr std::size_t kApart = 128;
inline constexpr std::uint64_t kMagic = 0x4c414f48532e3130;  // "01.SHOAL" read as bytes.
inline constexpr std::uint32_t kLayoutVersion = 7;
inline constexpr std::size_t kReleaseBytes = 20;
inline constexpr std::size_t kTextBytes = 480;
inline constexpr std::uint64_t kRecordCount = 256;
inline constexpr int kMostRanks = 4096;
inline constexpr std::uint32_t kCommunicators = 1024;              ///< Open at once in a job; slot 0 is the world.
inline constexpr std::uint32_t kAnyCommunicator = kCommunicators;  ///< A slot more: the first error of them all.

/// Writer: the launcher, before it forks. Ranks check it once, at attach, and keep the sizes for themselves.
struct alignas(kApart) SegmentHeader {
  // These stand where they stand in every layout, so that programs of any two versions can tell each other apart.
  std::uint64_t magic;
  std::uint32_t version;        ///< kLayoutVersion of the launcher.
  char release[kReleaseBytes];  ///< kVersion of the launcher, ended by a zero.

  std::uint32_t ranks;
  std::uint64_t segment_bytes;
  std::uint64_t channel_bytes;
  std::uint64_t heap_bytes;
  std::uint32_t cores;        ///< Ranks that can run at once, as read when the job was launched.
  std::int32_t hop_cores[2];  ///< Two cores that it may use, far apart; -1: it has no two.
  std::uint32_t reserved;     ///< 1: memory is reserved before it is touched, since there might be none by then.
};

/// States of a record that several may try to write and the first one does. Who writes a communicator's error adds its
/// rank, so that others can tell when it was killed in between.
enum class Once : std::uint32_t { unset, being_written, set };
constexpr std::uint32_t being_written_by(int rank) {
  return static_cast<std::uint32_t>(Once::being_written) | static_cast<std::uint32_t>(rank) << 8;
}
/// The rank that is writing; -1: none.
constexpr int writer_in(std::uint32_t once) {
  return (once & 0xff) == static_cast<std::uint32_t>(Once::being_written) ? static_cast<int>(once >> 8) : -1;
}

/// The first failure. Writer: the launcher.
struct alignas(kApart) JobState {
  std::atomic<std::uint32_t> aborted;  ///< Once.
  std::int32_t rank;
  std::uint32_t kind;  ///< FailureKind.
  std::int32_t code;
  char text[kTextBytes];
};

/// Where a job's calibration comes from.
enum class CalibrationSource : std::uint32_t { file, measured };

/// The figures by which algorithms are chosen. Writer: rank 0.
struct alignas(kApart) CalibrationState {
  std::atomic<std::uint32_t> published;  ///< Once; stored last.
  std::uint32_t source;                  ///< CalibrationSource.
  Calibration calibration;
};

/// A communicator's first error, and whether its slot is in use. Writer of the error: the rank that moves `broken`
/// from unset, or from a writer that is dead; the one that takes a free slot resets it.
struct alignas(kApart) CommunicatorState {
  std::atomic<std::uint32_t> broken;  ///< Once; while it is being written with the writer's world rank.
  std::uint32_t code;                 ///< ErrorCode.
  std::int32_t rank;                  ///< Who met the error, a world rank.
  std::int32_t peer;                  ///< With whom, a world rank or -1.
  char text[kTextBytes];
  /// Members that have it open; 0: free. Writers: the member that takes the slot, and each that closes it.
  alignas(kApart) std::atomic<std::uint32_t> handles;
  std::atomic<std::uint32_t> generation;  ///< Times the slot was taken. Writer: who takes it.
};

/// One call of a rank, as others may read it at any time: `number` is stored last, and read before and after.
struct CallRecord {
  std::atomic<std::uint64_t> number;  ///< 1 for the rank's first call; 0: being written or empty.
  std::atomic<std::uint64_t> fingerprint;
  std::atomic<std::uint64_t> communicator;  ///< CallContext::communicator.
  std::atomic<std::uint64_t> sequence;      ///< CallContext::sequence.
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> kinds;  ///< operation | algorithm << 8 | type << 16 | reduction << 24 | root << 32.
  std::atomic<std::uint64_t> begun;  ///< Nanoseconds of the system's monotonic clock, to some milliseconds.
  std::atomic<std::uint64_t> ended;  ///< The same; 0: not yet. The lowest bit is set where it ended with an error.
};

/// What `gave_up` says beside the number of calls: the rank awaited + 1, or kNobody; 0: no error met.
inline constexpr int kAwaitedBits = 16;
inline constexpr std::uint64_t kNobody = (std::uint64_t{1} << kAwaitedBits) - 1;
static_assert(kMostRanks < kNobody);

/// One rank's block.
struct alignas(kApart) RankState {
  std::atomic<std::int32_t> owner;             ///< Process that claimed the rank; 0: none. Writer: who moves it from 0.
  std::atomic<std::uint32_t> phase;            ///< RankPhase. Writer: the rank; the launcher once its process is gone.
  std::atomic<std::uint64_t> owner_namespace;  ///< In which `owner` is a process's number. Writer: the rank.
  /// Futex word. Writers: whoever wakes this rank.
  alignas(kApart) std::atomic<std::uint32_t> doorbell;
  std::atomic<std::uint32_t> sleeping;  ///< 1 from before this rank sleeps until someone wakes it or it wakes.
  /// Writer: the rank.
  alignas(kApart) std::atomic<std::uint64_t> calls_begun;
  std::atomic<std::uint64_t> calls_returned;  ///< The last call that this rank has come out of.
  std::atomic<std::uint64_t> word;            ///< Where, in its own memory, others try to copy from; 0: nowhere yet.
  std::atomic<std::uint64_t> awaits;  ///< Whom it has awaited for a while: rank + 1, plus 2^32 if to take; 0: nobody.
  std::atomic<std::uint64_t>
      gave_up;                       ///< When it last met an error: calls_begun << 16, and whom it awaited, or kNobody.
  CallRecord records[kRecordCount];  ///< Call n is in records[n % kRecordCount].
};

/// Whether a rank can copy out of another's own memory. Writer: the rank that tries.
enum class Copies : std::uint8_t { untried, yes, no };

/// One row of a rank's ledger. Writer: the rank.
struct LedgerRow {
  std::atomic<std::uint64_t> calls;
  std::atomic<std::uint64_t> sent;
  std::atomic<std::uint64_t> received;
};
struct alignas(kApart) Ledger {
  LedgerRow rows[kOperationCount][kAlgorithmCount];
};

static_assert(sizeof(SegmentHeader) == kApart && sizeof(JobState) == 4 * kApart && sizeof(CalibrationState) == kApart &&
              sizeof(Calibration) == 40 && sizeof(CommunicatorState) == 5 * kApart);
static_assert(std::is_standard_layout_v<Calibration> && std::is_trivially_copyable_v<Calibration>);
static_assert(offsetof(SegmentHeader, version) == 8 && offsetof(SegmentHeader, release) == 12);
static_assert(sizeof(CallRecord) == 64 && offsetof(RankState, doorbell) == kApart &&
              offsetof(RankState, calls_begun) == 2 * kApart);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && sizeof(std::atomic<std::uint64_t>) == 8);

/// Where everything lies; a pure function of the shape.
struct Geometry {
  std::uint32_t ranks = 0;
  std::uint64_t channel_bytes = 0;
  std::uint64_t heap_bytes = 0;
  std::uint64_t rank_states = 0;  ///< Offsets from the start of the segment.
  std::uint64_t ledgers = 0;
  std::uint64_t copies = 0;  ///< A byte for each rank and each it may copy from.
  std::uint64_t flag_lines = 0;
  std::uint64_t channels = 0;
  std::uint64_t envelopes = 0;
  std::uint64_t rings = 0;
  std::uint64_t heaps = 0;
  std::uint64_t staging = 0;         ///< Of the world, then of the other communicators.
  std::uint64_t reserved_bytes = 0;  ///< All that is used before there are others, from the start of the segment.
  std::uint64_t segment_bytes = 0;

  /// Throws Error `invalid_argument` naming what does not fit.
  static Geometry of(const JobShape& shape);
};
inline constexpr std::uint64_t kJobStateOffset = sizeof(SegmentHeader);
inline constexpr std::uint64_t kCalibrationOffset = kJobStateOffset + sizeof(JobState);
inline constexpr std::uint64_t kCommunicatorsOffset = kCalibrationOffset + sizeof(CalibrationState);
inline constexpr std::uint64_t kRankStatesOffset =
    kCommunicatorsOffset + (kCommunicators + 1) * sizeof(CommunicatorState);

}  // namespace shoal::detail

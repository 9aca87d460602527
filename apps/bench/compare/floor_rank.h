#pragma once

#include <immintrin.h>
#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <vector>

#include "bench/compare/processes.h"

// What the operations of the floor are made of: rounds in which every rank shows a line, staging, rings, sums and copies.
// All wait the same way, with the least there is: a few polls, then the core for somebody else.

namespace shoal::bench {

inline constexpr int kMostRanks = 64;
inline constexpr std::size_t kLineBytes = 120;  // With its number, one pair of cache lines, which travel together.
inline constexpr std::size_t kSlotBytes = 32768;
inline constexpr std::uint64_t kSlots = 8;
inline constexpr std::uint64_t kLines = 64;
inline constexpr std::size_t kStageFloats = 65536;

using Number = std::atomic<std::uint64_t>;

struct alignas(128) Line {
  Number number;
  std::byte bytes[kLineBytes];
};
struct alignas(128) Counter {
  Number value;
};
struct alignas(128) Slot {
  Number number;
  alignas(128) std::byte bytes[kSlotBytes];
};

struct Shared {
  Line arrivals[kMostRanks][2];  // By parity of the round.
  double seconds[kMostRanks];
  pid_t processes[kMostRanks];
};
/// From one rank to all who read it: small messages in lines, others in slots.
struct Ring {
  Line lines[kLines];
  Slot slots[kSlots];
  Counter read[kMostRanks];
};

/// Mapped before the ranks are forked: a buffer of one's own lies at the same address in each.
struct Memory {
  Memory(int ranks, std::size_t elements, bool buffers_shared)
      : reached(buffers_shared),
        shared(map_memory<Shared>(1)),
        rings(map_memory<Ring>(static_cast<std::size_t>(ranks) * ranks)),
        stages(map_memory<float>(static_cast<std::size_t>(ranks) * 2 * kStageFloats)) {
    for (int rank = 0; rank < ranks; ++rank) {
      in.push_back(map_memory<float>(elements, reached ? MAP_SHARED : MAP_PRIVATE));
      out.push_back(map_memory<float>(elements, reached ? MAP_SHARED : MAP_PRIVATE));
    }
  }
  bool reached;  ///< Whether ranks reach each other's buffers.
  Shared* shared;
  Ring* rings;  // [from][to]; [from][from] is read by all.
  float* stages;
  std::vector<float*> in, out;
};

using Floats __attribute__((vector_size(64), aligned(4), may_alias)) = float;

/// A rank's end of all that.
class FloorRank {
 public:
  FloorRank(const Memory& memory, int rank, int ranks)
      : memory_(&memory), rank_(rank), ranks_(ranks), written_(count()), read_(2 * count()) {
    memory.shared->processes[rank] = getpid();
    const auto cores = allowed_cores();
    const bool fit = count() <= cores.size();
    if (fit) pin(cores[mine()]);
    polls_ = fit ? 20000 : 16;
    if (!memory.reached) scratch_.resize(kCopied * count());
  }

  /// Returns when all have called it.
  void meet() {
    round({nullptr, 0}, [](int, const std::byte*) {});
  }
  double slowest(double seconds) {
    memory_->shared->seconds[rank_] = seconds;
    meet();
    for (int rank = 0; rank < ranks_; ++rank) seconds = std::max(seconds, memory_->shared->seconds[rank]);
    meet();
    return seconds;
  }

 protected:
  static constexpr std::size_t kPiece = 16384;   // Floats, copied at once.
  static constexpr std::size_t kCopied = 65536;  // The same, by the kernel.

  struct Part {
    std::size_t begin, end;
  };
  std::size_t mine() const { return static_cast<std::size_t>(rank_); }
  std::size_t count() const { return static_cast<std::size_t>(ranks_); }
  /// This rank's of n floats.
  Part part_of(std::size_t n) const { return {n * mine() / count(), n * (mine() + 1) / count()}; }

  struct Bytes {
    const void* data;
    std::size_t size;
  };
  static Bytes bytes_of(const float* data, std::size_t n) { return {data, n * sizeof(float)}; }

  /// Everybody shows a line, and sees everybody's. Nobody is two rounds ahead: lines of two parities are enough.
  template <class Use>
  void round(Bytes own, Use&& use) {
    const std::uint64_t number = ++rounds_;
    Line& line = memory_->shared->arrivals[rank_][number % 2];
    if (own.size > 0) std::memcpy(line.bytes, own.data, own.size);
    line.number.store(number, std::memory_order_release);
    for (int rank = 0; rank < ranks_; ++rank) {
      if (rank == rank_) continue;
      const Line& theirs = memory_->shared->arrivals[rank][number % 2];
      wait([&] { return theirs.number.load(std::memory_order_acquire) >= number; });
      use(rank, theirs.bytes);
    }
  }
  /// Pieces of `n` floats, of each of which a rank shows `times` as much: show(at, size, stage), then use(at, size).
  template <class Show, class Use>
  void staged(std::size_t n, std::size_t times, Show&& show, Use&& use) {
    const std::size_t most = kStageFloats / times;
    for (std::size_t at = 0; at < n; at += most) {
      const std::size_t size = std::min(most, n - at);
      show(at, size, stage(rank_, rounds_ + 1));
      meet();
      use(at, size);
    }
  }
  /// For staged(): the same piece of each of `chunks` chunks.
  auto pieces_of(std::size_t chunk, std::size_t chunks) const {
    return [this, chunk, chunks](std::size_t at, std::size_t size, float* to) {
      for (std::size_t i = 0; i < chunks; ++i)
        std::memcpy(to + i * size, memory_->in[mine()] + chunk * i + at, size * sizeof(float));
    };
  }
  float* stage(int rank, std::uint64_t round) const {
    return memory_->stages + (static_cast<std::size_t>(rank) * 2 + round % 2) * kStageFloats;
  }
  const float* shown(int rank) const { return stage(rank, rounds_); }
  /// Adds up what all show in this round, from so many floats on.
  void sum_shown(std::size_t offset, std::size_t size, float* to) {
    operands_.clear();
    for (int rank = 0; rank < ranks_; ++rank) operands_.push_back(shown(rank) + offset);
    results_.assign(1, to);
    sum(size);
  }
  void take_shown(std::size_t chunk, std::size_t at, std::size_t size, std::size_t offset) const {
    for (int from = 0; from < ranks_; ++from)
      std::memcpy(memory_->out[mine()] + chunk * static_cast<std::size_t>(from) + at, shown(from) + offset,
                  size * sizeof(float));
  }
  /// All have begun before anyone works, and are done before anyone goes on.
  template <class Work>
  void in_step(Work&& work) {
    meet();
    work();
    meet();
  }

  /// A vector of `rank` that a sum goes to.
  struct Target {
    std::size_t rank;
    float* vector;
  };
  /// Forms this rank's part of the sum of all vectors, for each of `to`.
  void sum_part(std::size_t n, std::initializer_list<Target> to) { sum_part(n, std::span(to.begin(), to.size())); }
  void sum_part(std::size_t n, std::span<const Target> to) {
    const Part part = part_of(n);
    // Large enough for a system call, small enough for a cache.
    const std::size_t most = memory_->reached ? part.end - part.begin : kCopied;
    for (std::size_t at = part.begin; at < part.end; at += most) {
      const std::size_t size = std::min(most, part.end - at);
      operands_.clear();
      for (std::size_t rank = 0; rank < count(); ++rank) operands_.push_back(operand(rank, at, size));
      results_.clear();
      for (const Target& target : to)
        if (reaches(target.rank)) results_.push_back(target.vector + at);
      if (results_.empty()) results_.push_back(scratch_.data() + kCopied * mine());
      sum(size);
      for (const Target& target : to)
        if (!reaches(target.rank)) copy_to(target.rank, target.vector + at, results_.front(), size);
    }
  }
  const float* operand(std::size_t rank, std::size_t at, std::size_t size) {
    const float* const theirs = memory_->in[rank] + at;
    if (reaches(rank)) return theirs;
    float* const here = scratch_.data() + kCopied * rank;
    copy_from(rank, here, theirs, size);
    return here;
  }
  /// All operands, into each of the results.
  void sum(std::size_t size) const {
    constexpr std::size_t kWide = sizeof(Floats) / sizeof(float);
    std::size_t i = 0;
    for (; i + kWide <= size; i += kWide) {
      Floats sum = *reinterpret_cast<const Floats*>(operands_[0] + i);
      for (std::size_t rank = 1; rank < count(); ++rank) sum += *reinterpret_cast<const Floats*>(operands_[rank] + i);
      for (float* const result : results_) *reinterpret_cast<Floats*>(result + i) = sum;
    }
    for (; i < size; ++i) {
      float sum = 0;
      for (const float* const operand : operands_) sum += operand[i];
      for (float* const result : results_) result[i] = sum;
    }
  }
  static void add(float* to, const std::byte* theirs, std::size_t n) {
    const auto* const from = reinterpret_cast<const float*>(theirs);
    for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
  }
  /// In blocks for which the C library does not write past the caches.
  static void copy(float* to, const float* from, std::size_t n) {
    for (std::size_t at = 0; at < n; at += kPiece)
      std::memcpy(to + at, from + at, std::min(kPiece, n - at) * sizeof(float));
  }

  bool reaches(std::size_t rank) const { return memory_->reached || rank == mine(); }
  /// From and into buffers of `rank`.
  void copy_from(std::size_t rank, float* to, const float* from, std::size_t n) const {
    if (reaches(rank)) return copy(to, from, n);
    kernel_copy(process_vm_readv, rank, to, const_cast<float*>(from), n);
  }
  void copy_to(std::size_t rank, float* to, const float* from, std::size_t n) const {
    if (reaches(rank)) return copy(to, from, n);
    kernel_copy(process_vm_writev, rank, const_cast<float*>(from), to, n);
  }
  template <class Copy>
  void kernel_copy(Copy&& copy, std::size_t rank, float* own, float* theirs, std::size_t n) const {
    const iovec here{own, n * sizeof(float)};
    const iovec there{theirs, n * sizeof(float)};
    if (n != 0 && copy(memory_->shared->processes[rank], &here, 1, &there, 1, 0) != static_cast<ssize_t>(here.iov_len))
      throw std::runtime_error("the kernel does not copy between processes here");
  }

  void put(int to, const float* data, std::size_t n) {
    Ring& own = ring(rank_, to);
    const std::size_t size = n * sizeof(float);
    const auto* const bytes = reinterpret_cast<const std::byte*>(data);
    std::uint64_t& written = written_[static_cast<std::size_t>(to)];
    const auto wait_for_room = [&](std::uint64_t places) {
      if (written % (places / 2) != 0 || written < places) return;
      // All who read it are at most half a ring behind.
      for (int reader = 0; reader < ranks_; ++reader)
        if (reader != rank_ && (to == reader || to == rank_))
          wait([&] { return own.read[reader].value.load(std::memory_order_acquire) + places / 2 >= written; });
    };
    if (size <= kLineBytes) {
      wait_for_room(kLines);
      Line& line = own.lines[written++ % kLines];
      std::memcpy(line.bytes, bytes, size);
      line.number.store(written, std::memory_order_release);
      return;
    }
    for (std::size_t at = 0; at < size; at += kSlotBytes) {
      wait_for_room(kSlots);
      Slot& slot = own.slots[written++ % kSlots];
      std::memcpy(slot.bytes, bytes + at, std::min(kSlotBytes, size - at));
      slot.number.store(written, std::memory_order_release);
    }
  }
  template <class Use>
  void take(int from, int to, std::size_t n, Use&& use) {
    Ring& theirs = ring(from, to);
    const std::size_t size = n * sizeof(float);
    std::uint64_t& read = read_[static_cast<std::size_t>(from) + (to == from ? count() : 0)];
    // Of each message at once: a writer that goes from lines to slots, or back, must not wait for what is read already.
    const auto done = [&] { theirs.read[rank_].value.store(read, std::memory_order_release); };
    if (size <= kLineBytes) {
      const Line& line = theirs.lines[read++ % kLines];
      wait([&] { return line.number.load(std::memory_order_acquire) >= read; });
      use(line.bytes, 0, size);
      done();
      return;
    }
    for (std::size_t at = 0; at < size; at += kSlotBytes) {
      const Slot& slot = theirs.slots[read++ % kSlots];
      wait([&] { return slot.number.load(std::memory_order_acquire) >= read; });
      use(slot.bytes, at, std::min(kSlotBytes, size - at));
      done();
    }
  }

  const Memory* memory_;
  int rank_;
  int ranks_;

 private:
  Ring& ring(int from, int to) const { return memory_->rings[static_cast<std::size_t>(from) * count() + to]; }

  template <class Ready>
  void wait(Ready&& ready) const {
    for (int tries = 0; !ready(); ++tries)
      if (tries < polls_)
        _mm_pause();
      else
        sched_yield();
  }

  int polls_;
  std::uint64_t rounds_ = 0;
  std::vector<std::uint64_t> written_;  // By reader.
  std::vector<std::uint64_t> read_;     // By writer, then those that all read.
  // Filled anew in each sum, without an allocation.
  std::vector<const float*> operands_;
  std::vector<float*> results_;
  std::vector<float> scratch_;  // For each rank a block of what was copied of it.
};

}  // namespace shoal::bench

// The floor: the nine operations as little as they can be, by hand, for one program that calls them in step. No argument
// is looked at, nothing is recorded, nobody can fail. What is left are the hops, the bytes and the switches between
// processes that no library can do without, so the best peer's time over it bounds every ratio from above. Each figure is
// the best of several ways: all in step, staged piece by piece, streamed through rings.
//
//     floor_peer shared|private RANKS OP[,OP...] SIZE[,SIZE...] SECONDS
//
// shared: buffers that all ranks reach. private: buffers of each rank's own, which the kernel copies between processes.
#include <immintrin.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <thread>

#include "bench/compare/forked_ranks.h"
#include "bench/compare/peer.h"

namespace {

constexpr int kMostRanks = 64;
constexpr std::size_t kLineBytes = 120;  // With its number, one pair of cache lines, which travel together.
constexpr std::size_t kSlotBytes = 32768;
constexpr std::uint64_t kSlots = 8;
constexpr std::uint64_t kLines = 64;
constexpr std::size_t kStageBytes = 262144;

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

template <class T>
T* map_memory(std::size_t count, int sharing = MAP_SHARED) {
  void* const memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

/// Mapped before the ranks are forked: a buffer of one's own lies at the same address in each.
struct Memory {
  Memory(int ranks, std::size_t elements, bool buffers_shared)
      : reached(buffers_shared),
        shared(map_memory<Shared>(1)),
        rings(map_memory<Ring>(static_cast<std::size_t>(ranks) * ranks)),
        stages(map_memory<std::byte>(static_cast<std::size_t>(ranks) * 2 * kStageBytes)) {
    for (int rank = 0; rank < ranks; ++rank) {
      in.push_back(map_memory<float>(elements, reached ? MAP_SHARED : MAP_PRIVATE));
      out.push_back(map_memory<float>(elements, reached ? MAP_SHARED : MAP_PRIVATE));
    }
  }
  bool reached;  ///< Whether ranks reach each other's buffers.
  Shared* shared;
  Ring* rings;  // [from][to]; [from][from] is read by all.
  std::byte* stages;
  std::vector<float*> in, out;
};

using Floats __attribute__((vector_size(64), aligned(4), may_alias)) = float;

class Rank {
 public:
  Rank(const Memory& memory, int rank, int ranks)
      : memory_(&memory), rank_(rank), ranks_(ranks), written_(count()), read_(2 * count()) {
    memory.shared->processes[rank] = getpid();
    bind();
    polls_ = static_cast<unsigned>(ranks) <= std::thread::hardware_concurrency() ? 20000 : 16;
  }

  // Round by round.

  void meet() {
    round({nullptr, 0}, [](int, const std::byte*) {});
  }
  void barrier(std::size_t /*none*/) { meet(); }

  void all_reduce(std::size_t n) {
    float* const out = memory_->out[mine()];
    if (n * sizeof(float) <= kLineBytes) {
      std::memcpy(out, memory_->in[mine()], n * sizeof(float));
      round(bytes_of(out, n), [&](int, const std::byte* theirs) { add(out, theirs, n); });
      return;
    }
    in_step([&] { sum_part(n, memory_->out); });
  }
  void reduce_scatter(std::size_t n) {
    float* const out = memory_->out[mine()];
    const std::size_t chunk = n / count();
    if (n * sizeof(float) <= kLineBytes) {
      std::memcpy(out, memory_->in[mine()] + chunk * mine(), chunk * sizeof(float));
      round(bytes_of(memory_->in[mine()], n),
            [&](int, const std::byte* theirs) { add(out, theirs + chunk * mine() * sizeof(float), chunk); });
      return;
    }
    in_step([&] { sum_part(chunk * count(), {out - chunk * mine()}); });
  }
  void all_gather(std::size_t n) {
    float* const out = memory_->out[mine()];
    const std::size_t chunk = n / count();
    if (chunk * sizeof(float) <= kLineBytes) {
      std::memcpy(out + chunk * mine(), memory_->in[mine()], chunk * sizeof(float));
      round(bytes_of(memory_->in[mine()], chunk), [&](int rank, const std::byte* theirs) {
        std::memcpy(out + chunk * static_cast<std::size_t>(rank), theirs, chunk * sizeof(float));
      });
      return;
    }
    in_step([&] {
      // Pieces of all chunks in turn: who copies the same piece at the same time fetches it from memory once.
      const std::size_t piece = memory_->reached ? kPiece : chunk;
      for (std::size_t at = 0; at < chunk; at += piece)
        for (std::size_t from = 0; from < count(); ++from)
          copy_from(from, out + chunk * from + at, memory_->in[from] + at, std::min(piece, chunk - at));
    });
  }
  void all_to_all(std::size_t n) {
    float* const out = memory_->out[mine()];
    const std::size_t chunk = n / count();
    const auto take = [&](std::size_t from, const float* theirs) {
      copy_from(from, out + chunk * from, theirs + chunk * mine(), chunk);
    };
    if (n * sizeof(float) <= kLineBytes) {
      take(mine(), memory_->in[mine()]);
      round(bytes_of(memory_->in[mine()], n), [&](int rank, const std::byte* theirs) {
        std::memcpy(out + chunk * static_cast<std::size_t>(rank), theirs + chunk * mine() * sizeof(float),
                    chunk * sizeof(float));
      });
      return;
    }
    in_step([&] {
      for (std::size_t i = 0; i < count(); ++i) take((mine() + i) % count(), memory_->in[(mine() + i) % count()]);
    });
  }
  // From and into the root's memory; all ranks share the copies.
  void broadcast(std::size_t n) {
    in_step([&] {
      if (!memory_->reached) {
        const std::size_t own = n - n / count();  // What each fetches; the root brings it the rest.
        if (rank_ != 0) copy_from(0, memory_->in[mine()], memory_->in[0], own);
        for (std::size_t to = 1; to < count() && rank_ == 0; ++to)
          copy_to(to, memory_->in[to] + own, memory_->in[0] + own, n - own);
        return;
      }
      const Part part = part_of(n, rank_);
      for (std::size_t at = part.begin; at < part.end; at += kPiece)
        for (std::size_t to = 1; to < count(); ++to)
          copy(memory_->in[to] + at, memory_->in[0] + at, std::min(kPiece, part.end - at));
    });
  }
  void reduce(std::size_t n) {
    in_step([&] { sum_part(n, {memory_->out[0]}); });
  }
  void gather(std::size_t n) {
    const std::size_t chunk = n / count();
    in_step([&] { copy_to(0, memory_->out[0] + chunk * mine(), memory_->in[mine()], chunk); });
  }
  void scatter(std::size_t n) {
    const std::size_t chunk = n / count();
    in_step([&] { copy_from(0, memory_->out[mine()], memory_->in[0] + chunk * mine(), chunk); });
  }

  // Staged: each piece is shown in memory that all reach, in a round of its own, and need not stay there for longer.

  void all_reduce_staged(std::size_t n) {
    staged(
        n, 1,
        [&](std::size_t at, std::size_t size, std::byte* stage) {
          std::memcpy(stage, memory_->in[mine()] + at, size * sizeof(float));
        },
        [&](std::size_t at, std::size_t size) { sum(shown(0), 0, size, {memory_->out[mine()]}, at); });
  }
  void reduce_scatter_staged(std::size_t n) {
    const std::size_t chunk = n / count();
    staged(
        chunk, count(), [&](std::size_t at, std::size_t size, std::byte* to) { show_chunks(chunk, at, size, to); },
        [&](std::size_t at, std::size_t size) { sum(shown(mine() * size), 0, size, {memory_->out[mine()]}, at); });
  }
  void all_gather_staged(std::size_t n) {
    const std::size_t chunk = n / count();
    staged(
        chunk, 1,
        [&](std::size_t at, std::size_t size, std::byte* stage) {
          std::memcpy(stage, memory_->in[mine()] + at, size * sizeof(float));
        },
        [&](std::size_t at, std::size_t size) { take_shown(chunk, at, size, 0); });
  }
  void all_to_all_staged(std::size_t n) {
    const std::size_t chunk = n / count();
    staged(
        chunk, count(), [&](std::size_t at, std::size_t size, std::byte* to) { show_chunks(chunk, at, size, to); },
        [&](std::size_t at, std::size_t size) { take_shown(chunk, at, size, mine() * size); });
  }

  // Streamed: a sender waits only where the ring is full.

  void broadcast_streamed(std::size_t n) {
    if (rank_ == 0) {
      put(0, memory_->in[0], n);
    } else {
      take(0, 0, n, [&](const std::byte* theirs, std::size_t at, std::size_t bytes) {
        std::memcpy(reinterpret_cast<std::byte*>(memory_->in[mine()]) + at, theirs, bytes);
      });
    }
  }
  void reduce_streamed(std::size_t n) {
    if (rank_ != 0) {
      put(0, memory_->in[mine()], n);
      return;
    }
    float* const out = memory_->out[0];
    std::memcpy(out, memory_->in[0], n * sizeof(float));
    for (int from = 1; from < ranks_; ++from)
      take(from, 0, n, [&](const std::byte* theirs, std::size_t at, std::size_t bytes) {
        add(out + at / sizeof(float), theirs, bytes / sizeof(float));
      });
  }
  void gather_streamed(std::size_t n) {
    const std::size_t chunk = n / count();
    if (rank_ != 0) {
      put(0, memory_->in[mine()], chunk);
      return;
    }
    std::memcpy(memory_->out[0], memory_->in[0], chunk * sizeof(float));
    for (int from = 1; from < ranks_; ++from)
      take(from, 0, chunk, [&](const std::byte* theirs, std::size_t at, std::size_t bytes) {
        std::memcpy(reinterpret_cast<std::byte*>(memory_->out[0] + chunk * static_cast<std::size_t>(from)) + at, theirs,
                    bytes);
      });
  }
  void scatter_streamed(std::size_t n) {
    const std::size_t chunk = n / count();
    if (rank_ != 0) {
      take(0, rank_, chunk, [&](const std::byte* theirs, std::size_t at, std::size_t bytes) {
        std::memcpy(reinterpret_cast<std::byte*>(memory_->out[mine()]) + at, theirs, bytes);
      });
      return;
    }
    for (int to = 1; to < ranks_; ++to) put(to, memory_->in[0] + chunk * static_cast<std::size_t>(to), chunk);
    std::memcpy(memory_->out[0], memory_->in[0], chunk * sizeof(float));
  }

  double slowest(double seconds) {
    memory_->shared->seconds[rank_] = seconds;
    meet();
    for (int rank = 0; rank < ranks_; ++rank) seconds = std::max(seconds, memory_->shared->seconds[rank]);
    meet();
    return seconds;
  }

 private:
  static constexpr std::size_t kPiece = 16384;  // Floats.

  struct Part {
    std::size_t begin, end;
  };
  /// To a core of its own, where there are enough.
  void bind() const {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    if (CPU_COUNT(&allowed) < ranks_) return;
    int core = 0;
    for (int passed = -1; passed < rank_; ++core) passed += CPU_ISSET(core, &allowed) ? 1 : 0;
    CPU_ZERO(&allowed);
    CPU_SET(core - 1, &allowed);
    sched_setaffinity(0, sizeof allowed, &allowed);
  }
  std::size_t mine() const { return static_cast<std::size_t>(rank_); }
  std::size_t count() const { return static_cast<std::size_t>(ranks_); }
  Part part_of(std::size_t n, int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return {n * r / count(), n * (r + 1) / count()};
  }

  template <class Ready>
  void wait(Ready&& ready) const {
    for (int tries = 0; !ready(); ++tries)
      if (tries < polls_)
        _mm_pause();
      else
        sched_yield();
  }

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
    const std::size_t most = kStageBytes / sizeof(float) / times;
    for (std::size_t at = 0; at < n; at += most) {
      const std::size_t size = std::min(most, n - at);
      show(at, size, stage(rank_, rounds_ + 1));
      meet();
      use(at, size);
    }
  }
  void show_chunks(std::size_t chunk, std::size_t at, std::size_t size, std::byte* stage) const {
    for (std::size_t to = 0; to < count(); ++to)
      std::memcpy(stage + to * size * sizeof(float), memory_->in[mine()] + chunk * to + at, size * sizeof(float));
  }
  std::byte* stage(int rank, std::uint64_t round) const {
    return memory_->stages + (static_cast<std::size_t>(rank) * 2 + round % 2) * kStageBytes;
  }
  /// What all show in this round, from so many floats on.
  std::vector<float*> shown(std::size_t offset) const {
    std::vector<float*> all;
    for (int rank = 0; rank < ranks_; ++rank) all.push_back(reinterpret_cast<float*>(stage(rank, rounds_)) + offset);
    return all;
  }
  void take_shown(std::size_t chunk, std::size_t at, std::size_t size, std::size_t offset) const {
    for (int from = 0; from < ranks_; ++from)
      std::memcpy(memory_->out[mine()] + chunk * static_cast<std::size_t>(from) + at,
                  reinterpret_cast<const float*>(stage(from, rounds_)) + offset, size * sizeof(float));
  }
  /// All have begun before anyone works, and are done before anyone goes on.
  template <class Work>
  void in_step(Work&& work) {
    meet();
    work();
    meet();
  }

  /// This rank's part of the sum of all vectors, into each of `to`, which is one vector or that of each rank.
  void sum_part(std::size_t n, const std::vector<float*>& to) {
    const Part part = part_of(n, rank_);
    if (memory_->reached) {
      sum(memory_->in, part.begin, part.end, to, part.begin);
      return;
    }
    constexpr std::size_t kBlock = 65536;  // Floats: large enough for a system call, small enough for a cache.
    scratch_.resize(kBlock * count());
    for (std::size_t at = part.begin; at < part.end; at += kBlock) {
      const std::size_t size = std::min(kBlock, part.end - at);
      std::vector<float*> from;
      for (std::size_t rank = 0; rank < count(); ++rank) {
        from.push_back(scratch_.data() + kBlock * rank);
        if (rank == mine())
          from.back() = memory_->in[rank] + at;
        else
          copy_from(rank, from.back(), memory_->in[rank] + at, size);
      }
      // The result is first this rank's own; others get copies of it.
      const bool for_root = to.size() == 1 && to[0] == memory_->out[0];
      float* const result = for_root && rank_ != 0 ? scratch_.data() : to[to.size() == 1 ? 0 : mine()] + at;
      sum(from, 0, size, {result}, 0);
      if (for_root && rank_ != 0) copy_to(0, to[0] + at, result, size);
      for (std::size_t rank = 0; rank < to.size() && to.size() > 1; ++rank)
        if (rank != mine()) copy_to(rank, to[rank] + at, result, size);
    }
  }
  void sum(const std::vector<float*>& from, std::size_t begin, std::size_t end, const std::vector<float*>& to,
           std::size_t to_begin) const {
    constexpr std::size_t kWide = sizeof(Floats) / sizeof(float);
    std::size_t i = begin;
    std::size_t o = to_begin;
    for (; i + kWide <= end; i += kWide, o += kWide) {
      Floats sum = *reinterpret_cast<const Floats*>(from[0] + i);
      for (std::size_t rank = 1; rank < count(); ++rank) sum += *reinterpret_cast<const Floats*>(from[rank] + i);
      for (float* const vector : to) *reinterpret_cast<Floats*>(vector + o) = sum;
    }
    for (; i < end; ++i, ++o) {
      float sum = 0;
      for (std::size_t rank = 0; rank < count(); ++rank) sum += from[rank][i];
      for (float* const vector : to) vector[o] = sum;
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

  /// From and into buffers of `rank`.
  void copy_from(std::size_t rank, float* to, const float* from, std::size_t n) const {
    if (memory_->reached || rank == mine()) return copy(to, from, n);
    kernel_copy(process_vm_readv, rank, to, const_cast<float*>(from), n);
  }
  void copy_to(std::size_t rank, float* to, const float* from, std::size_t n) const {
    if (memory_->reached || rank == mine()) return copy(to, from, n);
    kernel_copy(process_vm_writev, rank, const_cast<float*>(from), to, n);
  }
  template <class Copy>
  void kernel_copy(Copy&& copy, std::size_t rank, float* own, float* theirs, std::size_t n) const {
    const iovec here{own, n * sizeof(float)};
    const iovec there{theirs, n * sizeof(float)};
    if (n != 0 && copy(memory_->shared->processes[rank], &here, 1, &there, 1, 0) != static_cast<ssize_t>(here.iov_len))
      throw std::runtime_error("the kernel does not copy between processes here");
  }

  Ring& ring(int from, int to) const { return memory_->rings[static_cast<std::size_t>(from) * count() + to]; }

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
    const auto done = [&](std::uint64_t places) {
      if (read % (places / 4) == 0) theirs.read[rank_].value.store(read, std::memory_order_release);
    };
    if (size <= kLineBytes) {
      const Line& line = theirs.lines[read++ % kLines];
      wait([&] { return line.number.load(std::memory_order_acquire) >= read; });
      use(line.bytes, 0, size);
      done(kLines);
      return;
    }
    for (std::size_t at = 0; at < size; at += kSlotBytes) {
      const Slot& slot = theirs.slots[read++ % kSlots];
      wait([&] { return slot.number.load(std::memory_order_acquire) >= read; });
      use(slot.bytes, at, std::min(kSlotBytes, size - at));
      done(kSlots);
    }
  }

  const Memory* memory_;
  int rank_;
  int ranks_;
  int polls_;
  std::uint64_t rounds_ = 0;
  std::vector<std::uint64_t> written_;  // By reader.
  std::vector<float> scratch_;
  std::vector<std::uint64_t> read_;  // By writer, then those that all read.
};

using Way = void (Rank::*)(std::size_t);

/// Whether a way does what it says, with values that differ by rank and position; throws where not.
void check(const Memory& memory, Rank& self, int rank, int ranks, const std::string& name, Way way, std::size_t n) {
  const auto value = [](int of, std::size_t at) { return static_cast<float>(of * 1000 + static_cast<int>(at % 997)); };
  const auto mine = static_cast<std::size_t>(rank);
  const std::size_t chunk = n / static_cast<std::size_t>(ranks);
  const std::size_t used =
      name == "broadcast" || name == "reduce" || name == "all_reduce" ? n : chunk * static_cast<std::size_t>(ranks);
  for (std::size_t i = 0; i < used; ++i) {
    memory.in[mine][i] = value(rank, i);
    memory.out[mine][i] = -1;
  }
  self.meet();
  (self.*way)(n);
  self.meet();
  const auto sum_at = [&](std::size_t at) {
    float sum = 0;
    for (int from = 0; from < ranks; ++from) sum += value(from, at);
    return sum;
  };
  const bool root_only = name == "reduce" || name == "gather";
  const bool own_chunk = name == "reduce_scatter" || name == "scatter";
  const std::size_t given = root_only && rank != 0 ? 0 : own_chunk ? chunk : used;
  for (std::size_t i = 0; i < given; ++i) {
    const auto from = static_cast<int>(i / std::max<std::size_t>(chunk, 1));
    float expected = sum_at(own_chunk ? i + chunk * mine : i);
    if (name == "broadcast") expected = value(0, i);
    if (name == "scatter") expected = value(0, i + chunk * mine);
    if (name == "all_gather" || name == "gather") expected = value(from, i % chunk);
    if (name == "all_to_all") expected = value(from, i % chunk + chunk * mine);
    const float got = (name == "broadcast" ? memory.in : memory.out)[mine][i];
    if (got != expected) throw std::runtime_error(name + " is wrong at " + std::to_string(i));
  }
  self.meet();
}

void run_rank(const Memory& memory, int rank, int ranks, const shoal::bench::PeerArguments& arguments) {
  Rank self(memory, rank, ranks);
  const std::map<std::string, std::vector<Way>> known{
      {"barrier", {&Rank::barrier}},
      {"broadcast", {&Rank::broadcast, &Rank::broadcast_streamed}},
      {"reduce", {&Rank::reduce, &Rank::reduce_streamed}},
      {"all_reduce", {&Rank::all_reduce, &Rank::all_reduce_staged}},
      {"reduce_scatter", {&Rank::reduce_scatter, &Rank::reduce_scatter_staged}},
      {"all_gather", {&Rank::all_gather, &Rank::all_gather_staged}},
      {"all_to_all", {&Rank::all_to_all, &Rank::all_to_all_staged}},
      {"gather", {&Rank::gather, &Rank::gather_streamed}},
      {"scatter", {&Rank::scatter, &Rank::scatter_streamed}},
  };
  for (const std::string& name : arguments.operations) {
    const bool has_data = name != "barrier";
    for (const std::size_t size : has_data ? arguments.sizes : std::vector<std::size_t>{0}) {
      const std::size_t elements = size / sizeof(float);
      if (has_data && elements < static_cast<std::size_t>(ranks)) continue;
      double best = std::numeric_limits<double>::max();
      for (const Way way : known.at(name)) {
        if (has_data) check(memory, self, rank, ranks, name, way, elements);
        const auto times = shoal::bench::time_calls(
            size, arguments.seconds, [&] { (self.*way)(elements); }, [&] { self.meet(); },
            [&](double seconds) { return self.slowest(seconds); });
        best = std::min(best, times.median());
      }
      if (rank == 0) std::printf("%s %zu %.3f\n", name.c_str(), size, best * 1e6);
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc == 6 ? argv[1] : "";
  const int ranks = argc == 6 ? std::atoi(argv[2]) : 0;
  if ((kind != "shared" && kind != "private") || ranks < 1 || ranks > kMostRanks) {
    std::fprintf(stderr, "usage: floor_peer shared|private RANKS OP[,OP...] SIZE[,SIZE...] SECONDS\n");
    return 2;
  }
  const shoal::bench::PeerArguments arguments(argv + 3);
  const Memory memory(ranks, arguments.most_elements(), kind == "shared");
  return shoal::bench::run_forked(ranks, [&](int rank) { run_rank(memory, rank, ranks, arguments); }) ? 0 : 1;
}

// What this machine can do at most, measured without any library: the floor that figures are held against.
//
//     limit RANKS            prints one `name value` a line
//
//     hop_ns               a cache line's way from one pinned process to another
//     barrierP_us          a counter that all P processes wait for: pause, then sched_yield, then futex
//     rooflineP_SMiB_us    each of P processes reads its part of P vectors of S and writes the sum there:
//                          the memory traffic of an all-reduce in place that touches every byte once
//     copyP_SMiB_GBps      P processes that copy private memory at the same time, all together
#include <immintrin.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "bench/compare/forked_ranks.h"
#include "bench/compare/processes.h"

namespace {

using shoal::bench::allowed_cores;
using shoal::bench::map_memory;
using shoal::bench::pin;

constexpr int kMostRanks = 256;
constexpr std::size_t kBytesPerFigure = std::size_t{512} << 20;

using Word = std::atomic<std::uint32_t>;
struct alignas(128) Line {
  Word value{0};
};
struct Shared {
  Line ping, pong, arrived, generation, sleepers;
  double result[kMostRanks]{};
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The processes of one measurement.
class Ranks {
 public:
  explicit Ranks(int ranks) : ranks_(ranks), cores_(allowed_cores()), shared_(map_memory<Shared>(1)) {}

  /// Runs `body(rank)`, which returns its figure, on all; pinned where each has a core. Returns their figures.
  template <class Body>
  std::vector<double> run(Body&& body) {
    new (shared_) Shared;
    entered_ = 0;
    const bool ok = shoal::bench::run_forked(ranks_, [&](int rank) {
      if (fit()) pin(cores_[static_cast<std::size_t>(rank)]);
      shared_->result[rank] = body(rank);
    });
    if (!ok) throw std::runtime_error("a process failed");
    return {shared_->result, shared_->result + ranks_};
  }

  void barrier() {
    const std::uint32_t generation = entered_++;
    // Who comes last has seen all others come, and starts the count anew before it lets them go.
    if (shared_->arrived.value.fetch_add(1, std::memory_order_seq_cst) + 1 == static_cast<std::uint32_t>(ranks_)) {
      shared_->arrived.value.store(0, std::memory_order_seq_cst);
      // Generation, then a look at the sleepers; a sleeper counts itself, then the kernel looks at the generation. In
      // one order of all of these either the waker sees the sleeper, or the kernel sees the new generation and does not
      // sleep.
      shared_->generation.value.store(entered_, std::memory_order_seq_cst);
      if (shared_->sleepers.value.load(std::memory_order_seq_cst) != 0) futex(FUTEX_WAKE, INT_MAX);
      return;
    }
    const int pauses = fit() ? 20000 : 50;
    for (int tries = 0; shared_->generation.value.load(std::memory_order_seq_cst) == generation; ++tries) {
      if (tries < pauses) {
        _mm_pause();
      } else if (tries < pauses + 50) {
        sched_yield();
      } else {
        shared_->sleepers.value.fetch_add(1, std::memory_order_seq_cst);
        futex(FUTEX_WAIT, generation);
        shared_->sleepers.value.fetch_sub(1, std::memory_order_seq_cst);
      }
    }
  }

  Shared& shared() { return *shared_; }

 private:
  bool fit() const { return static_cast<std::size_t>(ranks_) <= cores_.size(); }
  void futex(int operation, std::uint32_t value) {
    syscall(SYS_futex, &shared_->generation.value, operation, value, nullptr, nullptr, 0);
  }

  int ranks_;
  std::vector<int> cores_;
  Shared* shared_;
  std::uint32_t entered_ = 0;  // Each process counts its own.
};

double hop_ns() {
  Ranks two(2);
  return two.run([&](int rank) {
    constexpr std::uint32_t kTurns = 200000;
    Word& ping = two.shared().ping.value;
    Word& pong = two.shared().pong.value;
    const double start = now();
    for (std::uint32_t turn = 1; turn <= kTurns; ++turn) {
      if (rank == 0) ping.store(turn, std::memory_order_release);
      while ((rank == 0 ? pong : ping).load(std::memory_order_acquire) != turn) _mm_pause();
      if (rank == 1) pong.store(turn, std::memory_order_release);
    }
    return (now() - start) / kTurns / 2 * 1e9;
  })[0];
}

double barrier_us(int ranks) {
  Ranks all(ranks);
  return all.run([&](int) {
    constexpr int kTimes = 3000;
    for (int i = 0; i < 100; ++i) all.barrier();
    const double start = now();
    for (int i = 0; i < kTimes; ++i) all.barrier();
    return (now() - start) / kTimes * 1e6;
  })[0];
}

/// As many floats as the widest registers hold; the compiler makes of it what the processor has.
using Floats __attribute__((vector_size(64))) = float;
struct Block {
  Floats values;
};

double roofline_us(int ranks, std::size_t bytes) {
  const std::size_t blocks = bytes / sizeof(Block);
  std::vector<Block*> vectors;
  for (int rank = 0; rank < ranks; ++rank) {
    vectors.push_back(map_memory<Block>(blocks));
    std::fill_n(vectors.back(), blocks, Block{Floats{} + 1.0F});
  }
  const auto count = static_cast<std::size_t>(ranks);
  Ranks all(ranks);
  const auto times = all.run([&](int rank) {
    const std::size_t begin = blocks * static_cast<std::size_t>(rank) / count;
    const std::size_t end = blocks * (static_cast<std::size_t>(rank) + 1) / count;
    const int rounds = std::max(4, static_cast<int>(kBytesPerFigure / bytes));
    double start = 0;
    for (int round = -1; round < rounds; ++round) {  // The first is not counted.
      if (round == 0) {
        all.barrier();
        start = now();
      }
      for (std::size_t i = begin; i < end; ++i) {
        Floats sum = vectors[0][i].values;
        for (std::size_t other = 1; other < count; ++other) sum += vectors[other][i].values;
        for (Block* const vector : vectors) vector[i].values = sum;
      }
      all.barrier();
    }
    return (now() - start) / rounds * 1e6;
  });
  for (Block* const vector : vectors) munmap(vector, bytes);
  return *std::ranges::max_element(times);
}

double copy_gbps(int ranks, std::size_t bytes) {
  Ranks all(ranks);
  double total = 0;
  for (const double rate : all.run([&](int) {
         const std::vector<char> from(bytes, 1);
         std::vector<char> to(bytes, 2);
         const int rounds = std::max(4, static_cast<int>(kBytesPerFigure / bytes));
         all.barrier();
         const double start = now();
         for (int i = 0; i < rounds; ++i) {
           std::memcpy(to.data(), from.data(), bytes);
           asm volatile("" : : "r"(to.data()) : "memory");  // Every copy counts, not just the last.
         }
         return rounds * static_cast<double>(bytes) / (now() - start) / 1e9;
       }))
    total += rate;
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  const int ranks = argc == 2 ? std::atoi(argv[1]) : 0;
  if (ranks < 1 || ranks > kMostRanks) {
    std::fprintf(stderr, "usage: limit RANKS (1 to %d)\n", kMostRanks);
    return 2;
  }
  try {
    if (allowed_cores().size() > 1) std::printf("hop_ns %.1f\n", hop_ns());
    std::printf("barrier%d_us %.2f\n", ranks, barrier_us(ranks));
    for (const std::size_t mebibytes : {1, 16, 64}) {
      std::printf("roofline%d_%zuMiB_us %.1f\n", ranks, mebibytes, roofline_us(ranks, mebibytes << 20));
      std::printf("copy%d_%zuMiB_GBps %.2f\n", ranks, mebibytes, copy_gbps(ranks, mebibytes << 20));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "limit: %s\n", error.what());
    return 1;
  }
  return 0;
}

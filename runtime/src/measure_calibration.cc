// Each figure is the best of several short runs: what disturbs a run only makes it longer. Every run has a time limit,
// so that a core on which others work costs precision, not time.

#include "measure_calibration.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <system_error>
#include <thread>

#include "layout.h"
#include "wait.h"

namespace shoal::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRunLimit{6};

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

/// Of the calling thread alone.
bool stay_on(int core) {
  if (core < 0 || core >= CPU_SETSIZE) return false;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<std::size_t>(core), &cores);
  return sched_setaffinity(0, sizeof cores, &cores) == 0;
}

/// How a thread waits for its turn. A yield may take as long as others on the core like.
struct Patience {
  void (*wait)();
  int polls_between_looks;
};
constexpr Patience kPolls{pause_core, 256};
constexpr Patience kYields{yield_core, 1};

/// Two threads that pass a turn to and fro.
class PingPong {
 public:
  /// One way, in the best of several batches; 0 if there was none in time.
  double measure(int first_core, int second_core, Patience patience) {
    double best = 0;
    try {
      const std::jthread second([&] { answer(second_core, patience); });
      try {
        const std::jthread first([&] { best = ask(first_core, patience); });
      } catch (const std::system_error&) {
        turn_.store(kOver, std::memory_order_release);  // The second waits for nobody else.
      }
    } catch (const std::system_error&) {  // No threads to be had: nothing is measured.
    }
    return best;
  }

 private:
  static constexpr std::uint32_t kOver = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kBatch = 8;  // Round trips: few, so that some are not disturbed.

  double ask(int core, Patience patience) {
    const auto start = Clock::now();
    double best = std::numeric_limits<double>::infinity();
    std::uint32_t turn = 0;
    const bool placed = stay_on(core);
    while (placed && Clock::now() - start < kRunLimit) {
      const auto batch = Clock::now();
      for (std::uint32_t trip = 0; trip < kBatch && pass(turn, start, patience); ++trip) turn += 2;
      if (turn % (2 * kBatch) != 0) break;
      best = std::min(best, nanoseconds_since(batch) / (2 * kBatch));
    }
    turn_.store(kOver, std::memory_order_release);
    return best < std::numeric_limits<double>::infinity() ? best : 0;
  }

  // Hands the turn over and waits until it is back; false if it does not come in time.
  bool pass(std::uint32_t turn, Clock::time_point start, Patience patience) {
    turn_.store(turn + 1, std::memory_order_release);
    for (int poll = 1; turn_.load(std::memory_order_acquire) != turn + 2; ++poll) {
      if (poll % patience.polls_between_looks == 0 && Clock::now() - start > kRunLimit) return false;
      patience.wait();
    }
    return true;
  }

  // The first thread always comes to an end, and says so.
  void answer(int core, Patience patience) {
    stay_on(core);
    while (true) {
      std::uint32_t turn = turn_.load(std::memory_order_acquire);
      if (turn == kOver) return;
      if (turn % 2 == 1) {
        // Not over an end that was told meanwhile.
        turn_.compare_exchange_strong(turn, turn + 1, std::memory_order_acq_rel);
      } else {
        patience.wait();
      }
    }
  }

  alignas(kApart) std::atomic<std::uint32_t> turn_{0};
};

/// The best rate of a few copies of so many bytes.
double copy_rate(std::size_t bytes, int copies) {
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(2 * bytes);
  std::byte* const from = memory.get();
  std::byte* const to = from + bytes;
  std::memset(from, 1, 2 * bytes);  // So that every page is there.
  const auto start = Clock::now();
  double best_ns = std::numeric_limits<double>::infinity();
  for (int copy = 0; copy < copies && Clock::now() - start < 2 * kRunLimit; ++copy) {
    const auto begin = Clock::now();
    std::memcpy(to, from, bytes);
    asm volatile("" : : "r"(to) : "memory");  // The copy is made, though nobody reads it.
    best_ns = std::min(best_ns, nanoseconds_since(begin));
  }
  return static_cast<double>(bytes) / best_ns;
}

std::uint32_t own_cache_bytes() {
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 && bytes < std::numeric_limits<std::int32_t>::max() ? static_cast<std::uint32_t>(bytes)
                                                                       : kReferenceCalibration.cache_bytes;
}

/// Of two ranks that share a core, where some must.
double yield_time(const Measured& measured) {
  if (measured.ranks <= measured.cores) return 0;
  constexpr double kUsualYield = 1000;
  const int core = std::max(measured.hop_cores[0], 0);
  const double yield = PingPong().measure(core, core, kYields);
  // Longer than a switch can take: others had the core.
  constexpr double kLongestYield = 10'000;
  return yield > 0 && yield < kLongestYield ? yield : kUsualYield;
}

}  // namespace

bool is_plausible(const Calibration& calibration) {
  const auto within = [](double value, double least, double most) { return value >= least && value <= most; };
  constexpr double kLongest = 1e6;  // ns.
  constexpr double kSlowest = 0.01;
  constexpr double kFastest = 10'000;  // Bytes a ns.
  return within(calibration.hop_ns, 1, kLongest) && within(calibration.cached_bytes_per_ns, kSlowest, kFastest) &&
         within(calibration.uncached_bytes_per_ns, kSlowest, kFastest) && within(calibration.yield_ns, 0, kLongest) &&
         calibration.cores >= 1 && calibration.cache_bytes >= 1;
}

Calibration measure_calibration(const Measured& measured) {
  constexpr std::size_t kCached = std::size_t{32} << 10;
  constexpr std::size_t kUncached = std::size_t{8} << 20;
  const auto [one, other] = measured.hop_cores;
  const double hop = one >= 0 && other >= 0 ? PingPong().measure(one, other, kPolls) : 0;
  const Calibration calibration{.hop_ns = hop > 0 ? hop : kReferenceCalibration.hop_ns,
                                .cached_bytes_per_ns = copy_rate(kCached, 200),
                                .uncached_bytes_per_ns = copy_rate(kUncached, 5),
                                .yield_ns = yield_time(measured),
                                .cores = static_cast<std::uint32_t>(std::max(measured.cores, 1)),
                                .cache_bytes = own_cache_bytes()};
  if (is_plausible(calibration)) return calibration;
  Calibration usual = kReferenceCalibration;
  usual.cores = calibration.cores;
  return usual;
}

}  // namespace shoal::detail

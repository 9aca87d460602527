#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

// How a time is taken: the same for shoal-bench and for its counterparts in compare/, which know nothing of shoal, so
// that their figures may be held against each other. A figure is the median of five repeats; a repeat is k calls back
// to back, entered together, its mean taken on the slowest rank.

namespace shoal::bench {

inline constexpr std::size_t kRepeats = 5;

struct Times {
  std::array<double, kRepeats> seconds{};  ///< A call's mean in each repeat, in the order in which they ran.
  int calls = 0;                           ///< In each.

  double median() const {
    auto sorted = seconds;
    std::ranges::sort(sorted);
    return sorted[kRepeats / 2];
  }
  double least() const { return *std::ranges::min_element(seconds); }
  double most() const { return *std::ranges::max_element(seconds); }
};

/// Times `call`, an operation on `bytes`, for about `seconds` in all. Every rank does this. `meet` is a barrier;
/// `slowest` gives all ranks the greatest of their values.
template <class Call, class Meet, class Slowest>
Times time_calls(std::size_t bytes, double seconds, Call&& call, Meet&& meet, Slowest&& slowest) {
  constexpr std::size_t kQuickBytes = 65536;  // Up to here a few more calls to get warm cost nothing.
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  const auto mean = [&](int calls) {
    meet();
    const double start = now();
    for (int k = 0; k < calls; ++k) call();
    return slowest((now() - start) / calls);
  };

  for (int k = 0; k < (bytes <= kQuickBytes ? 20 : 3); ++k) call();
  const double once = mean(2);
  Times times;
  times.calls =
      std::max(1, static_cast<int>(std::clamp(seconds / std::max(once, 1e-7), 3.0, 50000.0) / double{kRepeats}));
  for (double& repeat : times.seconds) repeat = mean(times.calls);
  return times;
}

}  // namespace shoal::bench

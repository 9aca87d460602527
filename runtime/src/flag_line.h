#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "shoal/runtime/fabric.h"

// A rank's arrival in a round of Window, over memory that it does not own: the round's number, the call's fingerprint
// and a few bytes, in one pair of lines. Writer: the rank, in every second round; all others read it.
//
//     bytes  0       8             16                            64                            128
//            | round | fingerprint | payload ..................... (a second line, where more than 48 bytes) |
//
// Nobody writes while anybody reads: see Window.

namespace shoal::detail {

struct alignas(128) FlagLine {
  std::atomic<std::uint64_t> round;  ///< Stored last; 0: none yet.
  std::uint64_t fingerprint;
  std::byte payload[kArrivalBytes];

  void write(std::uint64_t call_fingerprint, std::span<const std::byte> bytes) noexcept {
    assert(bytes.size() <= kArrivalBytes);
    fingerprint = call_fingerprint;
    if (!bytes.empty()) std::memcpy(payload, bytes.data(), bytes.size());
  }
  /// Pairs with the acquire in has_arrived: content first, then the round.
  void publish(std::uint64_t number) noexcept { round.store(number, std::memory_order_release); }

  /// Pairs with publish: having seen the round, we see its content. And with our own next publish: what we read here we
  /// have read before any rank that has seen us in the next round writes again. (Sequentially consistent, for wait.h.)
  bool has_arrived(std::uint64_t number) const noexcept { return round.load(std::memory_order_seq_cst) == number; }
};
static_assert(sizeof(FlagLine) == 128 && offsetof(FlagLine, payload) == 16);

}  // namespace shoal::detail

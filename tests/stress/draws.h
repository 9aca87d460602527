#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "support/serial_reference.h"

namespace shoal::test {

/// What a call is made of, drawn from (seed, stream, call): ranks that draw with the same three draw the same.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream, std::uint64_t call)
      : key_(mixed_bits(mixed_bits(mixed_bits(seed) + stream) + call)) {}

  std::uint64_t bits() { return mixed_bits(key_ + counter_++); }
  /// 0 .. limit - 1.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(bits() % limit); }
  int rank_of(int ranks) { return static_cast<int>(below(static_cast<std::size_t>(ranks))); }
  bool once_in(std::size_t calls) { return below(calls) == 0; }

  template <class T>
  T one_of(std::span<const T> choices) {
    return choices[below(choices.size())];
  }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace shoal::test

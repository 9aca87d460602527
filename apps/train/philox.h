#pragma once

#include <array>
#include <cstdint>

namespace shoal::train {

/// What a generator's numbers are for. Each purpose has a sequence of its own under one seed.
enum class Purpose : std::uint32_t { parameters = 0, order = 1 };

/// One block of Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): four
/// independent words as a pure function of counter and key.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// Numbers addressed by position rather than drawn in turn: anybody can produce the i-th, whatever else they
/// produced. Key: the seed. Counter: block (64 bits), purpose, sub-sequence (an epoch, say).
class CounterGenerator {
 public:
  CounterGenerator(std::uint64_t seed, Purpose purpose, std::uint32_t subsequence = 0);

  /// The index-th 64-bit word; two come out of each block.
  std::uint64_t word(std::uint64_t index) const;

  /// The index-th standard normal, by Box-Muller in double precision; the block of index / 2 gives two.
  double normal(std::uint64_t index) const;

 private:
  std::array<std::uint64_t, 2> block(std::uint64_t index) const;

  std::array<std::uint32_t, 2> key_;
  std::uint32_t purpose_;
  std::uint32_t subsequence_;
};

}  // namespace shoal::train

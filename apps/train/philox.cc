// Counter-based random numbers. Since a number depends on its position alone, the start of a parameter is the
// same in every world, and a rank can produce its shard without producing the rest.

#include "train/philox.h"

#include <cmath>
#include <numbers>

namespace shoal::train {
namespace {

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {high(second) ^ counter[1] ^ key[0], low(second), high(first) ^ counter[3] ^ key[1], low(first)};
    key[0] += 0x9E3779B9U;  // Weyl sequences: the golden ratio and sqrt(3) - 1.
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

CounterGenerator::CounterGenerator(std::uint64_t seed, Purpose purpose, std::uint32_t subsequence)
    : key_{low(seed), high(seed)}, purpose_(static_cast<std::uint32_t>(purpose)), subsequence_(subsequence) {}

std::array<std::uint64_t, 2> CounterGenerator::block(std::uint64_t index) const {
  const auto words = philox4x32({low(index), high(index), purpose_, subsequence_}, key_);
  return {std::uint64_t{words[0]} | std::uint64_t{words[1]} << 32,
          std::uint64_t{words[2]} | std::uint64_t{words[3]} << 32};
}

std::uint64_t CounterGenerator::word(std::uint64_t index) const { return block(index / 2)[index % 2]; }

double CounterGenerator::normal(std::uint64_t index) const {
  const auto words = block(index / 2);
  constexpr double kStep = 0x1p-53;
  const double radius_uniform = (static_cast<double>(words[0] >> 11) + 1.0) * kStep;  // In (0, 1]: has a logarithm.
  const double angle_uniform = static_cast<double>(words[1] >> 11) * kStep;           // In [0, 1).
  const double radius = std::sqrt(-2.0 * std::log(radius_uniform));
  const double angle = 2.0 * std::numbers::pi * angle_uniform;
  return index % 2 == 0 ? radius * std::cos(angle) : radius * std::sin(angle);
}

}  // namespace shoal::train

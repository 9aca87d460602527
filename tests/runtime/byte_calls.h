#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "shoal/runtime/communicator.h"

// What tests of the communicator's byte-level members call it with.

namespace shoal::test {

inline Call call_of(Operation operation, std::uint64_t count = 0) {
  return {.operation = operation, .algorithm = Algorithm::linear, .count = count};
}

/// A message that differs by sender, receiver and position.
inline std::vector<std::byte> content(int from, int to, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::byte>((static_cast<std::size_t>(from * 64 + to * 8) + i * 3 + (i >> 8)) & 0xff);
  return data;
}

/// Sums of 64-bit integers, which refuse a piece that is not whole ones.
inline const Fold kAddU64{.function =
                              [](std::byte* into, const std::byte* incoming, std::size_t bytes) {
                                if (bytes % 8 != 0) throw std::logic_error("a fold of half an element");
                                for (std::size_t i = 0; i < bytes; i += 8) {
                                  std::uint64_t a = 0;
                                  std::uint64_t b = 0;
                                  std::memcpy(&a, into + i, 8);
                                  std::memcpy(&b, incoming + i, 8);
                                  a += b;
                                  std::memcpy(into + i, &a, 8);
                                }
                              },
                          .element_bytes = 8};

}  // namespace shoal::test

#pragma once

#include <cstddef>

#include "shoal/runtime/operation.h"

namespace shoal::test {

/// Whether `algorithm` does a call on a vector of `count` elements: tiny takes what rides in a line, 112 bytes of each
/// rank, which are its chunk in all_gather and the whole vector elsewhere; slots what a rank's 256 KiB of staging hold: of
/// all_reduce the vector, else 64 KiB of each chunk or, where each rank has its own to read, a share.
inline bool takes(Algorithm algorithm, Operation operation, int ranks, std::size_t count, std::size_t element_bytes) {
  const auto p = static_cast<std::size_t>(ranks);
  const std::size_t chunk = (count + p - 1) / p * element_bytes;
  if (algorithm == Algorithm::tiny) return (operation == Operation::all_gather ? chunk : count * element_bytes) <= 112;
  if (algorithm != Algorithm::slots) return true;
  if (operation == Operation::all_reduce) return count * element_bytes <= 262144;
  if (operation == Operation::all_gather) return chunk <= 65536;
  const std::size_t share = 262144 / (p + 1) / 64 * 64;
  return chunk <= (share < 65536 ? share : 65536);
}

}  // namespace shoal::test

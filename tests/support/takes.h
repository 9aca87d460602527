#pragma once

#include <cstddef>

#include "shoal/runtime/operation.h"

namespace shoal::test {

/// Whether `algorithm` does a call on a vector of `count` elements: tiny takes what rides in a line, 112 bytes of each
/// rank, which are its chunk in all_gather and the whole vector elsewhere.
inline bool takes(Algorithm algorithm, Operation operation, int ranks, std::size_t count, std::size_t element_bytes) {
  if (algorithm != Algorithm::tiny) return true;
  const auto p = static_cast<std::size_t>(ranks);
  return (operation == Operation::all_gather ? (count + p - 1) / p : count) * element_bytes <= 112;
}

}  // namespace shoal::test

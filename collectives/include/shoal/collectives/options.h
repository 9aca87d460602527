#pragma once

#include <chrono>
#include <optional>

#include "shoal/runtime/operation.h"

namespace shoal {

/// How one call is to be made. Every rank of the communicator must pass the same algorithm.
struct Options {
  /// `automatic`: what SHOAL_ALGORITHM (`all_reduce:ring,broadcast:binomial`) names for the operation, else the
  /// operation's default. An algorithm that cannot do what is asked is refused by name, never replaced.
  Algorithm algorithm = Algorithm::automatic;
  /// Waiting allowed in this call, after which it throws `timeout`. None: SHOAL_TIMEOUT, or no limit.
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
};

}  // namespace shoal

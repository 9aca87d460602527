#pragma once

#include <chrono>
#include <optional>

#include "shoal/runtime/operation.h"

namespace shoal {

/// How one call is to be made. Every rank of the communicator must pass the same algorithm.
///
/// What any operation may throw, an Error of code
/// - `invalid_argument`, on the rank whose mistake it is, before that rank moves anything: an argument that cannot be,
///   which the text names and the operation's header lists; an algorithm that cannot do the call; a timeout below 0; a
///   SHOAL_ALGORITHM that does not read.
/// - `mismatch`: ranks' calls do not fit together; they differ in operation, order, element type, reduction, root,
///   count or algorithm. On every rank: in this call, in its next, or where its session ends.
/// - `timeout`: the time allowed passed while the call waited for another rank.
/// - `peer_lost`: a rank that this one waited for, directly or not, failed or left its session.
/// - `broken`: the communicator broke in an earlier call, or broke on another rank. So the others learn of one rank's
///   `invalid_argument` or `timeout`, with its text, in this call if they still wait in it, else in their next.
///
/// Code `system` no operation throws but Communicator::split. Where scratch memory is not to be had std::bad_alloc
/// passes through, and the others get `broken`. After any of these the communicator is broken (docs/errors.md).
///
/// How headers give costs: P is the number of ranks, S the bytes of the whole vector, C(r) those of the chunk of rank
/// r; a step is one transfer that a rank makes, both directions of an exchange together. Bytes are a rank's own, as its
/// ledger counts them. At P = 1 nothing is sent. cost() gives the figures of any algorithm (docs/algorithms.md says how
/// each comes about, and what memory it takes). A default is chosen from operation, type, reduction, S and P alone.
struct Options {
  /// `automatic`: what SHOAL_ALGORITHM (`all_reduce:ring,broadcast:binomial`) names for the operation, else the
  /// operation's default. An algorithm that cannot do what is asked is refused by name, never replaced.
  Algorithm algorithm = Algorithm::automatic;
  /// Waiting allowed in this call, after which it throws `timeout`. None: SHOAL_TIMEOUT, or no limit.
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
};

}  // namespace shoal

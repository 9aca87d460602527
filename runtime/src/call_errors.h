#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "shoal/runtime/error.h"
#include "shoal/runtime/fabric.h"

// What a call that cannot go on throws, in the same words on every fabric: who, with whom, how far, why.

namespace shoal::detail {

/// The first error of a communicator, as its other ranks find it.
struct FirstError {
  ErrorCode code = ErrorCode::broken;
  int rank = -1;  ///< Who met it.
  int peer = -1;  ///< With whom.
  std::string text;
};

/// "in all_reduce (ring, step 3 of 7)".
std::string where(const CallContext& context);

/// `lost`'s process is gone, `fate` says how; this rank was waiting for `waited_for`, -1: for nobody yet.
Error lost_error(int rank, int lost, int waited_for, const std::string& fate, const CallContext& context);
/// The job ended for a reason that is no rank's.
Error job_ended_error(int rank, const std::string& why, const CallContext& context);
Error left_error(int rank, int peer, const CallContext& context);
Error timeout_error(int rank, int waited_for, const CallContext& context);
/// A message came that does not belong to this call (`theirs`: the call it belongs to, where that is known), or is of
/// another size.
Error mismatch_error(int rank, int peer, bool of_this_call, const std::optional<Call>& theirs, std::uint64_t sent_bytes,
                     std::size_t expected_bytes, const CallContext& context);
/// The communicator broke on another rank, or earlier. The first that a rank hears of a mismatch or a lost peer
/// (`first`) is that; later calls, and all else, are `broken`.
Error broken_error(int rank, const FirstError& error, bool first, const CallContext& context);

}  // namespace shoal::detail

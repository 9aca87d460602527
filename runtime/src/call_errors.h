#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "call_book.h"
#include "layout.h"
#include "shoal/runtime/error.h"
#include "shoal/runtime/fabric.h"

// What a call that cannot go on throws, in the same words on every fabric: who, with whom, how far, why. Ranks are
// passed in as world ranks; texts and Error::peer() use those of the call's communicator.

namespace shoal::detail {

/// The first error of a communicator, as its other ranks find it.
struct FirstError {
  ErrorCode code = ErrorCode::broken;
  int rank = -1;  ///< Who met it, a world rank.
  int peer = -1;  ///< With whom.
  std::string text{};
};

/// What a rank finds of another's call, besides its record.
struct Arrived {
  std::uint64_t fingerprint = 0;
  std::optional<std::uint64_t> bytes{};  ///< Of the message; none of an arrival in a round.
};

/// Whom a call waits for, in world ranks; -1: nobody.
struct Awaited {
  int from = -1;
  int to = -1;
  bool arrival = false;  ///< `from` is to arrive in the call's round, rather than to send.
};

/// The rank of the call's communicator; -1 where `world_rank` is no member.
int rank_in(const CallContext& context, int world_rank);
/// "1"; in a communicator that is not the world "1 (world rank 5)".
std::string rank_text(const CallContext& context, int world_rank);
/// "in all_reduce (ring, step 3 of 7)".
std::string where(const CallContext& context);

/// `lost`'s process is gone, `fate` says how; this rank was waiting for `waited_for`, -1: for nobody yet.
Error lost_error(int rank, int lost, int waited_for, const std::string& fate, const CallContext& context);
/// The job ended for a reason that is no rank's.
Error job_ended_error(int rank, const std::string& why, const CallContext& context);
Error left_error(int rank, int peer, const CallContext& context);
Error timeout_error(int rank, int waited_for, const CallContext& context);
/// What a peer has shown lies nowhere in the job's memory.
Error foreign_place_error(int rank, std::uint64_t place, std::size_t bytes, const CallContext& context);
/// A message of this call came, of another size; or one from point to point, of which the other side, whose state is
/// `theirs`, says what call it was.
Error size_error(int rank, int peer, const RankState& theirs, std::uint64_t sent_bytes, std::size_t expected_bytes,
                 const CallContext& context);
/// Two calls that do not fit, as they are on record.
Error mismatch_error(int rank, const CallMismatch& mismatch, const CallContext& context);
/// Ranks that wait for each other in a circle, in calls that do not meet.
struct CrossedWait;
Error crossed_error(int rank, const CrossedWait& circle, const CallContext& context);
/// A rank that leaves has made a call that does not fit a peer's: what it throws. Sets `context` to that call, for the
/// communicator to be marked broken.
std::optional<Error> unfitting_call_error(int rank, int world_size, const StateOf& state_of, CallContext& context);
/// A message of another call came. The two ranks' first calls that do not fit are what it tells, where they are on
/// record: the message may be of a later call, or be met in one, as ranks that only send do not wait. Where the sender
/// is so far on that its call is not, what the message itself says.
Error foreign_message_error(int rank, const RankState& own, int peer, const RankState& theirs, const Arrived& arrived,
                            const CallContext& context);
/// Of a peer that this rank waits for in a collective call: it has begun a later one on the communicator, so that what
/// this rank waits for, unless it is there by now, will never be.
std::optional<Error> left_behind_error(int rank, int peer, const RankState& theirs, const CallContext& context);
/// A message that `sender` sent was never received, and `receiver` has left. `rank`, which finds it, is one of them;
/// only the receiver sees what it is.
Error unread_error(int rank, int sender, int receiver, const RankState& sender_state,
                   const std::optional<Arrived>& message, const CallContext& context);
/// The communicator broke on another rank, or earlier. The first that a rank hears of a mismatch or a lost peer
/// (`first`) is that; later calls, and all else, are `broken`.
Error broken_error(int rank, const FirstError& error, bool first, const CallContext& context);

}  // namespace shoal::detail

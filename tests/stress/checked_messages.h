#pragma once

#include "shoal/shoal.h"
#include "stress/draws.h"

namespace shoal::test {

/// Rounds of point-to-point messages between the ranks of `comm`, which all draw alike. Each throws std::logic_error
/// where what arrived is wrong, and returns what this rank should have moved.

/// One rank sends to another; the rest do nothing.
Cost checked_send(Communicator& comm, Draws& draws);
/// Every rank sends to the one some distance on, which may be itself, each a length of its own. Each exchanges; or,
/// drawn for each by itself, some receive and then send, if at least one in each ring of them exchanges.
Cost checked_shift(Communicator& comm, Draws& draws);

}  // namespace shoal::test

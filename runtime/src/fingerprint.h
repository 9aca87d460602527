#pragma once

#include <cstdint>

#include "shoal/runtime/operation.h"

// What travels with each message and each arrival, and tells a call from every other: eight bytes, compared as one
// number. Its lower part says what call it is, so that who gets a message of a call that it is not in can name it,
// however far on the sender is; its upper part is a digest of the communicator, and of all collective calls on it so
// far with this one.
//
//     bit 63                    29 28        16 15     13 12     9 8         5 4         0
//        | digest, 35 bits        | root + 1   | reduction | type | algorithm | operation |
//
// Two calls that differ in the count alone, or in an earlier call, have digests that are equal once in 2^35; the digest
// of the next call is drawn anew, as it is taken of 64 bits that are not.

namespace shoal::detail {

/// Of a call; `history` is a digest of 64 bits.
std::uint64_t fingerprint_of(const Call& call, std::uint64_t history);
/// The two ends of a message from point to point make different calls. What they must have in common is the type, so
/// that as a call this reads as a `send`.
std::uint64_t point_to_point_fingerprint(DataType type, std::uint64_t history);

/// What a fingerprint says of its call: all but the count, and a root of 8190 or more, which reads as none.
Call call_in(std::uint64_t fingerprint);

}  // namespace shoal::detail

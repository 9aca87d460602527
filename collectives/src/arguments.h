#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "shoal/runtime/communicator.h"

// Checks of a caller's arguments. Each refuses the call (Error invalid_argument, naming the argument) if it fails.

namespace shoal::detail {

/// A call of `operation` as far as its arguments tell; its algorithm is selected later.
void check_root(Communicator& comm, const Call& call);
/// A peer of send, recv and exchange: a rank of `comm`.
void check_peer(Communicator& comm, const Call& call, std::string_view argument, int peer);
/// `argument` has `expected` elements, because of `reason`: `out has 3 elements, but in has 4`.
void check_elements(Communicator& comm, const Call& call, std::string_view argument, std::span<const std::byte> bytes,
                    std::size_t expected, std::string_view reason);
/// `argument` is used at the root only, and this rank is not it.
void check_empty_off_root(Communicator& comm, const Call& call, std::string_view argument,
                          std::span<const std::byte> bytes);
/// `argument` of a v-operation: one count a rank, whose sum is the size of `buffer`, the argument that they cut.
void check_counts(Communicator& comm, const Call& call, std::string_view argument, std::span<const std::size_t> counts,
                  std::string_view buffer, std::span<const std::byte> bytes);
/// `buffer`, what this rank gives or gets, has as many elements as its entry of `argument` says, a list of one a rank.
void check_own_count(Communicator& comm, const Call& call, std::string_view buffer, std::span<const std::byte> bytes,
                     std::string_view argument, std::span<const std::size_t> counts);
void check_apart(Communicator& comm, const Call& call, std::span<const std::byte> in, std::span<const std::byte> out);
/// The reduction exists for the type.
void check_reduction(Communicator& comm, const Call& call);

bool overlap(std::span<const std::byte> one, std::span<const std::byte> other) noexcept;

}  // namespace shoal::detail

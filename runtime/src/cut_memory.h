#pragma once

#include <cstddef>

namespace shoal::detail {

/// Whose file is made shorter, or loses pages that a full /dev/shm cannot give back, reads its mapping no more: the
/// kernel sends SIGBUS. A launcher must outlive what ranks do to a file that it shares with them. From this call on,
/// the first such read in this process puts zeros in the place of the whole mapping, and goes on.
///
/// For one mapping at a time, the last one told. Sets this process's action for SIGBUS, which is otherwise as before.
void survive_cuts(std::byte* memory, std::size_t bytes) noexcept;
/// Whether that has happened to this mapping.
bool cut_was_survived(const std::byte* memory) noexcept;
/// The mapping goes.
void forget_cuts(const std::byte* memory) noexcept;

}  // namespace shoal::detail

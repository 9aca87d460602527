#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>

namespace shoal::detail {

/// Copies all of `from` to the start of `to`, a block at a time: the C library writes blocks above a size of its own
/// past the caches, which is slower where the other side reads them next, and no faster elsewhere.
inline void copy_blocks(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
  constexpr std::size_t kBlock = std::size_t{64} << 10;
  assert(from.size() <= to.size());
  for (std::size_t done = 0; done < from.size(); done += kBlock)
    std::memcpy(to.data() + done, from.data() + done, std::min(kBlock, from.size() - done));
}

}  // namespace shoal::detail

#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace shoal::detail {

/// Private memory of one call, uninitialised, aligned for any element.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes)
      : memory_(bytes == 0 ? nullptr : std::make_unique_for_overwrite<std::byte[]>(bytes)), bytes_(bytes) {}

  std::span<std::byte> bytes() noexcept { return {memory_.get(), bytes_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_;
};

/// Copies all of `from` to the start of `to`; they are the very same bytes or do not overlap.
inline void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  if (from.empty() || from.data() == to.data()) return;  // memcpy wants pointers that are not null, and apart.
  std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace shoal::detail

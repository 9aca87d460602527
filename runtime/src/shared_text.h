#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

// Texts in shared memory: cut to their place, ended by a zero.

namespace shoal::detail {

/// Ends where its writer said, or at the place's end.
template <std::size_t kBytes>
std::string text_of(const char (&text)[kBytes]) {
  return {text, strnlen(text, kBytes)};
}

template <std::size_t kBytes>
void copy_text(char (&into)[kBytes], std::string_view text) noexcept {
  const std::size_t bytes = std::min(text.size(), kBytes - 1);
  std::memcpy(into, text.data(), bytes);
  into[bytes] = '\0';
}

}  // namespace shoal::detail

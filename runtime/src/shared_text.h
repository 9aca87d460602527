#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "layout.h"

// Texts in shared memory: cut to their place, ended by a zero.

namespace shoal::detail {

/// Ends where its writer said, or at the place's end.
inline std::string text_of(const char (&text)[kTextBytes]) { return {text, strnlen(text, kTextBytes)}; }

inline void copy_text(char (&into)[kTextBytes], std::string_view text) noexcept {
  const std::size_t bytes = std::min(text.size(), kTextBytes - 1);
  std::memcpy(into, text.data(), bytes);
  into[bytes] = '\0';
}

}  // namespace shoal::detail

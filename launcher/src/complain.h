#pragma once

#include <cstdio>
#include <string>

namespace shoal::detail {

/// A line of shoalrun's own, on standard error, when no output of ranks can get in its way.
inline void complain(const std::string& text) { std::fprintf(stderr, "shoalrun: %s\n", text.c_str()); }

}  // namespace shoal::detail

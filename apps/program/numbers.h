#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal {

/// A whole number from 0 to 2^64 - 1 in digits, all of `text`.
std::optional<std::uint64_t> whole_number(const std::string& text);

/// What stands between the commas: one part more than there are commas.
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace shoal

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shoal {

/// "64", "4K", "1G" (powers of 1024) as bytes; empty for anything else, also for what exceeds 64 bits.
std::optional<std::uint64_t> parse_bytes(std::string_view text);
/// "500ms", "2s", "10m", "1.5s" as milliseconds, "0" too; empty for anything else.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
/// 1536 as "1.5 KiB"; exact bytes below 1024.
std::string format_bytes(std::uint64_t bytes);

}  // namespace shoal

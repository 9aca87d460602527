#include "shoal/runtime/units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace shoal {

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  const std::string_view suffix(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  unsigned shift = 0;
  if (suffix == "K" || suffix == "k") {
    shift = 10;
  } else if (suffix == "M" || suffix == "m") {
    shift = 20;
  } else if (suffix == "G" || suffix == "g") {
    shift = 30;
  } else if (!suffix.empty()) {
    return std::nullopt;
  }
  if (value > (UINT64_MAX >> shift)) {
    return std::nullopt;
  }
  return value << shift;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) {
    return std::nullopt;
  }
  const std::string_view suffix(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  double unit_ms = 0;
  if (suffix == "ms") {
    unit_ms = 1;
  } else if (suffix == "s") {
    unit_ms = 1000;
  } else if (suffix == "m") {
    unit_ms = 60'000;
  } else if (!suffix.empty() || value != 0) {
    return std::nullopt;
  }
  const double milliseconds = std::round(value * unit_ms);
  constexpr double kLongestMs = 4e12;  // 126 years: two of them still fit 64 bits of nanoseconds.
  if (milliseconds > kLongestMs) {
    return std::nullopt;
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds));
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::string_view kUnits = "KMGTPE";
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}iB", value, kUnits[unit]);
}

}  // namespace shoal

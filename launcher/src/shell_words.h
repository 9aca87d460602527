#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::detail {

/// `text` as a shell would take it apart into words: blanks separate, '...' is literal, "..." literal but for \" and
/// \\, and outside of quotes \ makes the next character an ordinary one. Nothing is expanded. Empty if a quote is not
/// closed.
std::optional<std::vector<std::string>> shell_words(std::string_view text);

}  // namespace shoal::detail

#include "shell_words.h"

namespace shoal::detail {

std::optional<std::vector<std::string>> shell_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool escapes = text[i] == '\\' && (quote == 0 || (quote == '"' && (next == '"' || next == '\\')));
    if (quote == 0 && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (escapes) {
      if (++i == text.size()) return std::nullopt;
      words.back() += text[i];
    } else if (text[i] == quote) {
      quote = 0;
    } else if (quote == 0 && (text[i] == '\'' || text[i] == '"')) {
      quote = text[i];
    } else {
      words.back() += text[i];
    }
  }
  if (quote != 0) return std::nullopt;
  return words;
}

}  // namespace shoal::detail

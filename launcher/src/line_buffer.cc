#include "line_buffer.h"

#include <utility>

namespace shoal::detail {

void LineBuffer::append(std::string_view bytes) { text_.append(bytes); }

std::string LineBuffer::take_lines() {
  const auto last = std::string_view(text_).substr(searched_).find_last_of(ends_);
  const bool whole = last != std::string::npos;
  const std::size_t taken = whole ? searched_ + last + 1 : text_.size();
  searched_ = text_.size();
  if (!whole && text_.size() <= kLongestLine) return {};
  std::string rest = text_.substr(taken);
  text_.resize(taken);
  searched_ = rest.size();
  return std::exchange(text_, std::move(rest));
}

std::string LineBuffer::take_rest() {
  searched_ = 0;
  return std::exchange(text_, {});
}

std::string tag_lines(std::string_view lines, std::string_view tag, bool continued) {
  std::string tagged;
  bool at_start = !continued;
  while (!lines.empty()) {
    const auto newline = lines.find('\n');
    const std::size_t length = newline == std::string_view::npos ? lines.size() : newline + 1;
    if (at_start) tagged += tag;
    tagged += lines.substr(0, length);
    lines.remove_prefix(length);
    at_start = true;
  }
  return tagged;
}

}  // namespace shoal::detail

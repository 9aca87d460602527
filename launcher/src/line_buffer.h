#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::detail {

/// Gathers what one rank writes to one stream until lines are whole, so that lines of ranks never mix. A line longer
/// than kLongestLine is passed on in pieces; it could not be kept without a bound.
class LineBuffer {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;

  /// `live`: what ends with a carriage return counts as a line, as a terminal would show it. Elsewhere that is a byte
  /// like any other.
  explicit LineBuffer(bool live = false) : ends_(live ? "\n\r" : "\n") {}

  void append(std::string_view bytes);
  /// All whole lines (and pieces of an overlong one) gathered so far; empty if there are none.
  std::string take_lines();
  /// What is left when nothing more can come: a last line without its newline.
  std::string take_rest();

 private:
  std::string_view ends_;
  std::string text_;
  std::size_t searched_ = 0;  // No line ends before this.
};

/// `lines` with `tag` before each line. `continued`: they begin in the middle of a line that has its tag already.
std::string tag_lines(std::string_view lines, std::string_view tag, bool continued);

}  // namespace shoal::detail

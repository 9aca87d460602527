#include "demos/python_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace shoal::demos {

std::string python_text(double value) {
  const double size = std::abs(value);
  const bool positional = size == 0 || (size >= 1e-4 && size < 1e16);  // Where repr() uses no exponent.
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), value,
                                 positional ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(digits.begin(), end.ptr);
  if (positional && text.find('.') == std::string::npos) text += ".0";
  return text;
}

}  // namespace shoal::demos

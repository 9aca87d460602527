#pragma once

#include <concepts>
#include <span>
#include <string>
#include <type_traits>

namespace shoal::demos {

/// The number as Python's repr() writes it: shortest text that reads back as the same value, "15.0" for a whole one.
std::string python_text(std::integral auto value) { return std::to_string(value); }
std::string python_text(double value);

/// The elements as Python prints a list of them: "[0, 1]", "[15.0, 16.0]", "[]".
template <class T>
std::string python_text(std::span<const T> values) {
  std::string text = "[";
  for (const T& value : values) {
    if (text.size() > 1) text += ", ";
    text += python_text(value);
  }
  return text + "]";
}

}  // namespace shoal::demos

#pragma once

#include <stdexcept>
#include <string>

namespace shoal::train {

/// A file that is not what it should be. what() is "FILE: reason".
class InputError : public std::runtime_error {
 public:
  InputError(const std::string& file, const std::string& reason) : std::runtime_error(file + ": " + reason) {}
};

}  // namespace shoal::train

#pragma once

#include <stdexcept>
#include <string>

namespace shoal::train {

/// A file that is not what it should be. what() is "FILE: reason".
class InputError : public std::runtime_error {
 public:
  InputError(const std::string& file, const std::string& reason) : std::runtime_error(file + ": " + reason) {}
};

/// What the user asked for cannot be done with these data or this world: the program says so and exits 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace shoal::train

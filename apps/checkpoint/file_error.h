#pragma once

#include <stdexcept>
#include <string>

namespace shoal::checkpoint {

/// A file that cannot be had, or is not what it should be. what() is "FILE: reason".
class FileError : public std::runtime_error {
 public:
  FileError(const std::string& file, const std::string& reason) : std::runtime_error(file + ": " + reason) {}
};

}  // namespace shoal::checkpoint

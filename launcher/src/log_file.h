#pragma once

#include <string>
#include <string_view>

#include "descriptor.h"

namespace shoal::detail {

/// A file that one stream of one rank is written to, byte by byte as it comes.
class LogFile {
 public:
  LogFile() = default;
  /// `append`: after what is there, of an earlier start of the job. Throws Error `system`.
  LogFile(std::string path, bool append);

  const std::string& path() const noexcept { return path_; }
  /// Returns 0, or the errno of a write that failed; all that comes after one is dropped.
  int write(std::string_view bytes);

 private:
  std::string path_;
  Descriptor file_;
};

}  // namespace shoal::detail

#include "shoal/runtime/error.h"

namespace shoal {

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::mismatch:
      return "mismatch";
    case ErrorCode::timeout:
      return "timeout";
    case ErrorCode::peer_lost:
      return "peer_lost";
    case ErrorCode::broken:
      return "broken";
    case ErrorCode::system:
      return "system";
  }
  return "unknown";
}

Error::Error(ErrorCode code, const std::string& text, int peer) : std::runtime_error(text), code_(code), peer_(peer) {}

}  // namespace shoal

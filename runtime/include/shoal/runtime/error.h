#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace shoal {

/// What kind of thing went wrong. After any of them in a call on a communicator, that communicator is broken:
/// every further call on it, by any of its ranks, throws `broken` with the text of the first error.
enum class ErrorCode {
  invalid_argument,  ///< The caller asked for what cannot be: a bad root, a bad count, overlapping buffers.
  mismatch,          ///< Two ranks of one communicator made calls that do not fit together.
  timeout,           ///< The deadline of the call passed.
  peer_lost,         ///< A rank that this one waited for failed or left.
  broken,            ///< The communicator broke earlier, or on another rank; the text is that of the first error.
  system             ///< The operating system refused something.
};

/// "invalid_argument", "peer_lost", ...
std::string_view name(ErrorCode code);

/// The one exception that shoal throws. what() says who, with whom and how far:
/// `rank 2: peer 1 lost in all_reduce (ring, step 3 of 7): it was ended by SIGKILL`.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text, int peer = -1);

  ErrorCode code() const noexcept { return code_; }
  /// The other rank concerned, as a rank of the communicator of the call; -1 where there is none.
  int peer() const noexcept { return peer_; }

 private:
  ErrorCode code_;
  int peer_;
};

}  // namespace shoal

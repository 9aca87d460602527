#pragma once

namespace shoal::detail {

/// Who reads the launcher's standard input.
struct InputRoute {
  enum class To { one, all, none };
  To to = To::one;
  int rank = 0;  ///< For `one`.

  bool reaches(int reader) const noexcept { return to == To::all || (to == To::one && reader == rank); }
};

}  // namespace shoal::detail

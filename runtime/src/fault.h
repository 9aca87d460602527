#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "shoal/runtime/operation.h"

namespace shoal::detail {

/// A fault that a user wants a rank to have, to see what the rest of the program makes of it:
///
///     SHOAL_FAULT=rank=2,op=all_reduce,call=17,action=kill
///
/// strikes at the start of rank 2's 17th all_reduce. `op=any` counts every operation; without `call` it is the first.
class Fault {
 public:
  /// Of this rank of `world`, as SHOAL_FAULT says; empty if it speaks of another, or is not set. Throws Error
  /// `invalid_argument`.
  static std::optional<Fault> of_rank(int rank, int world);

  /// A call of this rank begins. Where it is the one meant, ends or stops the process, sleeps, or throws
  /// std::runtime_error.
  void strike(Operation operation);

 private:
  enum class Action { kill, stop, abort, exit, raise, sleep };

  static std::optional<Fault> parse(std::string_view text, int rank, int world);
  bool set_action(std::string_view text);

  std::optional<Operation> operation_;  // Unset: any.
  std::uint64_t calls_left_ = 1;
  Action action_ = Action::kill;
  int exit_code_ = 1;
  std::chrono::milliseconds duration_{0};
};

}  // namespace shoal::detail

#pragma once

#include <cstdint>
#include <functional>
#include <memory_resource>

#include "shoal/shoal.h"
#include "stress/draws.h"

namespace shoal::test {

/// One rank's account of the calls that it makes, on whatever communicator: what was wrong, and what should have moved.
class Member {
 public:
  Member(Session& session, std::uint64_t seed);

  /// Makes call `call` of those that (seed, stream) decide. All ranks of `comm` pass the same.
  void make_call(Communicator& comm, std::uint64_t stream, std::uint64_t call);
  /// Splits, and checks what that moved.
  Communicator split(Communicator& comm, int color, int key);

  std::uint64_t wrong() const { return wrong_; }

 private:
  /// Runs one call, which returns what it should move, and looks whether it did.
  void check(const std::function<Cost()>& call);
  Cost make(Communicator& comm, Draws& draws);
  Cost checked_barrier(Communicator& comm, Algorithm algorithm);
  void report(const std::string& what);

  Session& session_;
  std::uint64_t seed_;
  Traffic moved_;  // Up to now.
  std::uint64_t wrong_ = 0;
};

}  // namespace shoal::test

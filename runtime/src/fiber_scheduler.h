#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace shoal::detail {

/// Runs n bodies as fibers of this thread, one at a time. A fiber goes on until it yields or blocks; who is next is
/// drawn from a seeded generator, or is who became ready first.
class FiberScheduler {
 public:
  FiberScheduler(int fibers, bool random, std::uint64_t seed, std::size_t stack_bytes);

  /// Returns when every body has. `stuck` is called when all that are left are blocked; it must make one ready.
  void run(const std::function<void(int)>& body, const std::function<void()>& stuck);

  // ---- Called by the running fiber ---------------------------------------------------------------------
  int current() const { return current_; }
  /// Lets any ready fiber go on, this one included.
  void yield();
  /// Goes on only after wake(this fiber).
  void block();
  /// Makes a blocked fiber ready; does nothing for others.
  void wake(int fiber);

  /// Uniform in 0 .. below-1, from the same generator.
  std::uint64_t draw(std::uint64_t below);

 private:
  enum class State : std::uint8_t { ready, running, blocked, ended };
  struct Stack {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    void* sanitizer_state = nullptr;
  };
  // The C++ runtime's record of exceptions being handled is the thread's; each fiber needs its own.
  struct ExceptionState {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };

  void resume(int fiber);
  void suspend();
  int next();

  std::vector<boost::context::fiber> fibers_;
  std::vector<State> states_;
  std::vector<Stack> stacks_;
  std::vector<ExceptionState> exceptions_;
  boost::context::fiber main_;
  Stack main_stack_;
  std::deque<int> ready_;
  bool random_;
  std::uint64_t generator_;
  std::size_t stack_bytes_;
  int current_ = -1;
};

}  // namespace shoal::detail

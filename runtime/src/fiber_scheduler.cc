// One switch point each way: resume() goes from the scheduler into a fiber, suspend() back. Whatever belongs to "the
// thread" but must follow the fiber is swapped there: the C++ runtime's exceptions in flight, and AddressSanitizer's
// idea of where the stack is.
#include "fiber_scheduler.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <boost/context/protected_fixedsize_stack.hpp>
#include <cassert>
#include <memory>
#include <new>
#include <utility>

#include "shoal/runtime/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace shoal::detail {
namespace {

[[maybe_unused]] void start_switch([[maybe_unused]] void** leaving, [[maybe_unused]] const void* bottom,
                                   [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(leaving, bottom, bytes);
#endif
}

[[maybe_unused]] void finish_switch([[maybe_unused]] void* arrived, [[maybe_unused]] const void** bottom,
                                    [[maybe_unused]] std::size_t* bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(arrived, bottom, bytes);
#endif
}

template <class State>
void exchange_exception_state(State& other) {
  auto* globals = reinterpret_cast<State*>(abi::__cxa_get_globals());
  std::swap(*globals, other);
}

}  // namespace

FiberScheduler::FiberScheduler(int fibers, bool random, std::uint64_t seed, std::size_t stack_bytes)
    : fibers_(static_cast<std::size_t>(fibers)),
      states_(static_cast<std::size_t>(fibers), State::ready),
      stacks_(static_cast<std::size_t>(fibers)),
      exceptions_(static_cast<std::size_t>(fibers)),
      random_(random),
      generator_(seed),
      stack_bytes_(stack_bytes) {}

void FiberScheduler::run(const std::function<void(int)>& body, const std::function<void()>& stuck) {
  boost::context::protected_fixedsize_stack allocator(stack_bytes_);
  const auto stack_of = [&](std::size_t fiber) {
    try {
      return allocator.allocate();
    } catch (const std::bad_alloc&) {
      throw Error(
          ErrorCode::system,
          fmt::format("simulate: no stack for rank {} of {}: {} bytes of addresses are not to be had; see ulimit "
                      "-v, and vm.max_map_count, of which each stack takes two",
                      fiber, fibers_.size(), stack_bytes_));
    }
  };
  for (std::size_t i = 0; i < fibers_.size(); ++i) {
    auto context = stack_of(i);
    stacks_[i] = {.bottom = static_cast<std::byte*>(context.sp) - context.size, .bytes = context.size};
    fibers_[i] = boost::context::fiber(
        std::allocator_arg, boost::context::preallocated(context.sp, context.size, context), allocator,
        [this, &body, i](boost::context::fiber&& main) {
          finish_switch(nullptr, &main_stack_.bottom, &main_stack_.bytes);
          main_ = std::move(main);
          body(static_cast<int>(i));
          states_[i] = State::ended;
          start_switch(nullptr, main_stack_.bottom, main_stack_.bytes);  // Null: this stack is not come back to.
          return std::move(main_);
        });
    ready_.push_back(static_cast<int>(i));
  }
  std::size_t left = fibers_.size();
  while (left > 0) {
    if (ready_.empty()) {
      stuck();
      assert(!ready_.empty());
    }
    const int fiber = next();
    resume(fiber);
    if (states_[static_cast<std::size_t>(fiber)] == State::ended) {
      --left;
    }
  }
}

int FiberScheduler::next() {
  if (random_) {
    std::swap(ready_[draw(ready_.size())], ready_.front());
  }
  const int fiber = ready_.front();
  ready_.pop_front();
  return fiber;
}

void FiberScheduler::resume(int fiber) {
  const auto index = static_cast<std::size_t>(fiber);
  Stack& stack = stacks_[index];
  current_ = fiber;
  states_[index] = State::running;
  exchange_exception_state(exceptions_[index]);
  start_switch(&main_stack_.sanitizer_state, stack.bottom, stack.bytes);
  fibers_[index] = std::move(fibers_[index]).resume();
  finish_switch(main_stack_.sanitizer_state, nullptr, nullptr);
  exchange_exception_state(exceptions_[index]);
  current_ = -1;
}

void FiberScheduler::suspend() {
  Stack& stack = stacks_[static_cast<std::size_t>(current_)];
  start_switch(&stack.sanitizer_state, main_stack_.bottom, main_stack_.bytes);
  main_ = std::move(main_).resume();
  finish_switch(stack.sanitizer_state, &main_stack_.bottom, &main_stack_.bytes);
}

void FiberScheduler::yield() {
  states_[static_cast<std::size_t>(current_)] = State::ready;
  ready_.push_back(current_);
  suspend();
}

void FiberScheduler::block() {
  states_[static_cast<std::size_t>(current_)] = State::blocked;
  suspend();
}

void FiberScheduler::wake(int fiber) {
  State& state = states_[static_cast<std::size_t>(fiber)];
  if (state == State::blocked) {
    state = State::ready;
    ready_.push_back(fiber);
  }
}

std::uint64_t FiberScheduler::draw(std::uint64_t below) {
  // SplitMix64; the bias of the remainder does not matter to a schedule.
  generator_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = generator_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % below;
}

}  // namespace shoal::detail

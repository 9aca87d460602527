#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>

// Memory whose neighbours cannot be touched: reading or writing one byte beyond either end ends the program, also where
// no sanitizer looks on.

namespace shoal::test {

class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t most_bytes)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), inside_((most_bytes + page_ - 1) / page_ * page_) {
    void* const mapped = mmap(nullptr, inside_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::runtime_error("mmap failed");
    base_ = static_cast<std::byte*>(mapped);
    if (mprotect(base_ + page_, inside_, PROT_READ | PROT_WRITE) != 0) throw std::runtime_error("mprotect failed");
  }
  ~GuardedMemory() { munmap(base_, inside_ + 2 * page_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  /// The last bytes, `gap` bytes before the end: at 0 they touch the guard.
  std::span<std::byte> last(std::size_t bytes, std::size_t gap = 0) const {
    return {base_ + page_ + inside_ - gap - bytes, bytes};
  }
  /// The first bytes, `gap` bytes behind the beginning.
  std::span<std::byte> first(std::size_t bytes, std::size_t gap = 0) const { return {base_ + page_ + gap, bytes}; }
  std::span<std::byte> all() const { return {base_ + page_, inside_}; }

 private:
  std::size_t page_;
  std::size_t inside_;
  std::byte* base_;
};

}  // namespace shoal::test

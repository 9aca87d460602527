#pragma once

#include <cstddef>
#include <span>

namespace shoal {

/// Addresses without memory, for buffers of a simulation without data (SimulationOptions::phantom): of any size, and
/// whoever reads or writes them is ended by a signal. Ranks may share one.
class PhantomBuffer {
 public:
  /// Throws Error `system` where so many addresses are not to be had.
  explicit PhantomBuffer(std::size_t bytes);
  PhantomBuffer(const PhantomBuffer&) = delete;
  PhantomBuffer& operator=(const PhantomBuffer&) = delete;
  ~PhantomBuffer();

  std::span<std::byte> bytes() const noexcept { return {start_, bytes_}; }
  /// As `count` elements, which must fit, of an arithmetic type.
  template <class T>
  std::span<T> as(std::size_t count) const noexcept {
    return {reinterpret_cast<T*>(start_), count};
  }

 private:
  std::byte* start_ = nullptr;
  std::size_t bytes_;
};

}  // namespace shoal
